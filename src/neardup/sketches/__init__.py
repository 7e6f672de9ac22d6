"""From fingerprints to a few dozen bytes per document.

minhash   the minimum under each of k·s permutations, grouped into k features
"""
