"""What runs Parley and looks after it: commands, processes, metrics, backups, the demo."""
