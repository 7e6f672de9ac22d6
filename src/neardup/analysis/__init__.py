"""The filter's mathematics.

filters   P[k,s,r] and what follows from it: the parameters for a threshold and a recall, the curve, the costs
"""
