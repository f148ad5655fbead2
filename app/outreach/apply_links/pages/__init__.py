"""Pages of apply links: for recruiters who set them up, and for candidates who open them."""
