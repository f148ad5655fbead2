"""What candidates add: files that are accepted by their content, and their text, read in a process of its own."""
