"""What the agent does next: the script as a state machine, commands, patience, and what it may say."""
