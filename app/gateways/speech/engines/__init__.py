"""One module per engine behind the ports; `build` makes them from settings."""
