"""People in the pipeline of a recruitment flow."""
