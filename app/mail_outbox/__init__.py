"""Mail that the product sends: kept as rows until a worker has handed it to the mail server."""
