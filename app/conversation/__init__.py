"""The candidate's interview in the browser."""
