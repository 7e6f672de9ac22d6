"""The living index: which engine holds it, and what that costs."""
