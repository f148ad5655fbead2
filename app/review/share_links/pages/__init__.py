"""Pages of share links: for recruiters who make them, and for people who open them."""
