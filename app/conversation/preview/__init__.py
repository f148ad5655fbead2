"""Preview: members try a flow in the same interview, which exists in memory only."""
