"""What every room uses and what depends on none: time, rows, claims, jobs and their queues, encryption."""
