"""The Redis that Parley starts itself where no other is configured."""
