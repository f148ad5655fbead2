"""``parley mcp``: the tools of an AI assistant, over ``/v1`` and nothing else.

A process of its own with its own packages (the extra ``mcp``). No other part of Parley imports it, and it imports none:
what a key may see, its limits and its log entries are ``/v1``'s.
"""
