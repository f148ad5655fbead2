"""Pages of share links: for recruiters who create them, and for people who open them."""
