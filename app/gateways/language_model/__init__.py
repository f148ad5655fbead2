"""Language models and what stands in for one: follow-up questions, summaries and scores."""
