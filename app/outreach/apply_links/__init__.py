"""A flow's own link: whoever opens it names themselves and gets an interview of their own."""
