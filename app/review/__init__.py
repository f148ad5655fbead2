"""What recruiters do with results: rate, comment, compare, share, export, and who may see what."""
