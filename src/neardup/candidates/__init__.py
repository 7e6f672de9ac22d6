"""Sketches → pairs worth a look, without ever listing all pairs.

features   documents with an equal feature are in one bucket
"""
