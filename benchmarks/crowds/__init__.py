"""Crowds: many documents of one template, each with a true near-duplicate; how many of those are found.

corpus      crowds of chosen resemblances, and unrelated documents to compare costs with
"""
