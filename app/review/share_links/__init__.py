"""Parts of an interview shown to people without an account, at a secret address that ends."""
