"""What members write to each other about an interview, and whom they name in it."""
