"""What the law asks for beyond the product's own purpose: erasing an interview, and the proof of it."""
