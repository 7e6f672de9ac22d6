"""Fingerprints → what is kept of a document, and what two of them show.

base       the contract: Sketcher, Sketches, Comparison
minhash    minima under many permutations, features of them        (Broder; Henzinger's Algorithm B)
bins       the same from one hash of each shingle                (Li, Owen, Zhang; Dahlgaard, Knudsen, Thorup)
simhash    random projection                                       (Henzinger's Algorithm C, Charikar)
both       the combined algorithm, and another rule for one site   (Henzinger)
lists      fingerprints of lists of words                          (Pugh)
samples    the m smallest, or those that are 0 modulo n            (Broder, Radinsky)
bloom      content-defined chunks in Bloom filters                 (Jain, Dahlin, Tewari)
kinds      all of them by name
artefact   sketches on disk, the collection of all of them
"""
