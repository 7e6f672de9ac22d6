"""From what was stored to the text that counts.

settings   which tokens, which part of a page, and whether its links are read too
sites      the host and the site of a URL
addresses  the same for columns of URLs
web        HTML → Henzinger's terms; the links of a page
extract    HTML → visible text; one function for every form of a page
workers    extraction in processes of its own
reader     the program of such a process
wire       what the two say to each other
confine    what such a process may not do
batches    a batch of documents as the bytes and offsets that the kernels read
"""
