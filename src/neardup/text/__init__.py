"""From what was stored to the text that counts.

settings   which tokens, and which part of a page
extract    HTML → visible text
workers    extraction in processes of its own
batches    a batch of documents as the bytes and offsets that the kernels read
"""
