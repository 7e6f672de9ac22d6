"""How right every recipe is on real, labelled pages: one table, one command.

    python -m benchmarks.quality

data     where the labelled collections are looked for, how their labels are read, and which labels mislead
table    precision, recall and F1 of all recipes, in halves, with and without misleading labels
"""
