"""How right are recipes? (being built)"""
