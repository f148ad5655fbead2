"""What organizations use: interviews with a result, minutes recorded; quotas, and word when one is near its end."""
