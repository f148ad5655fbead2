"""What the answers say; pure: no rows, no HTTP, the Analyst is an argument."""
