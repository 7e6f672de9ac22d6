"""Candidate pairs → pairs with a measured similarity.

settings      how, and from which resemblance on two documents are similar
resemblance   exact resemblance and containment of two shingle sets
measure       reads the candidates' text once more and measures the pairs
"""
