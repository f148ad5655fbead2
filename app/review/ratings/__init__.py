"""What people make of an interview: their own ratings beside those of the machine, never mixed with them."""
