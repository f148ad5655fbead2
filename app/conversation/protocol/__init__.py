"""The HTTP protocol between the page and the server while an interview runs."""
