"""Groups → what the user takes home.

evidence   removed, groups and notes as Arrow tables
corpus     the kept documents, in the format of the input
"""
