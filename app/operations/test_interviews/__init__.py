"""Test interviews: Parley plays them with canned answers through the ordinary steps."""
