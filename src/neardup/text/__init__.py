"""From what was stored to the text that counts.

settings   which tokens, and which part of a page
extract    HTML → visible text
batches    a batch of documents as the bytes and offsets that the kernels read
"""
