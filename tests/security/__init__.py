"""What strangers, neighbours and hostile files may not do."""
