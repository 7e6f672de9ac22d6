"""What all pages have in common. (being built)"""
