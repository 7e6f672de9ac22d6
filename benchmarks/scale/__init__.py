"""How far one machine goes: features of up to 200 million documents, clustered in memory and from disk.

features   documents with a planted cluster structure, and the check of an answer against it
linking    one case in a process of its own: seconds, memory, wrong labels
plot       time and memory against the number of documents
"""
