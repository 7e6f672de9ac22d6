"""What was done, as a page. (being built)"""
