"""What candidates ask of the people behind an interview: something different, a review, a deletion, and the answers."""
