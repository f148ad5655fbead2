"""What every room stands on and what knows no room: time, rows, claims, jobs and their queues, secrets at rest."""
