"""Grouping search results: how well signatures tell, how fast it is, and the paper's own experiment."""
