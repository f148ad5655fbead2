"""The rules about forbidden topics, and the questions that they are measured with."""
