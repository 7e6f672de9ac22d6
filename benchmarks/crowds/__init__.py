"""Crowds: many documents of one template, each with a true near-duplicate; how many of those are found.

corpus      crowds of chosen resemblances, and unrelated documents to compare costs with
systems     one collection through an engine, an index or a peer
scores      recall and precision of what was removed
__main__    the table
"""
