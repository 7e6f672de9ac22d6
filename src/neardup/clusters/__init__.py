"""Verified pairs → groups, and which member is kept.

settings   star or components, and the keep policy
keep       the keep policy: first, last, longest, shortest, max:, min:, prefer:
form       rounds of clustering and measuring until no presumption is left
"""
