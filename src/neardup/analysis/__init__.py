"""The mathematics of what is chosen: no text, no files, numbers only.

binomial     both ends of the binomial distribution, each to its own last digits
filters      Broder's P[k,s,r]: the curve, the parameters for a threshold and a recall, collisions, costs
lists        Pugh's lists: how many edits change all fingerprints of a document, and what repetitions do
bins         one permutation hashing: its error and what its features find, by the length of documents
estimators   standard errors and intervals of what sketches estimate
bloom        Jain, Dahlin and Tewari: bits per chunk, and what shared bits say
"""
