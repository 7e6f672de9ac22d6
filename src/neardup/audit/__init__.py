"""How right was this run? (being built)"""
