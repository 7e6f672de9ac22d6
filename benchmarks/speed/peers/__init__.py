"""One script per peer, run by the interpreter of the peer's own environment.

    SCRIPT CORPUS.parquet RESULT.json SCRATCH --threshold T --workers N

reads columns id and text, decides which documents are near-duplicates, writes the kept documents into SCRATCH
(a folder of this run only), and RESULT as `{"removed": [id, …], "groups": [[id, …], …], "settings": {…}}`.
The scripts import nothing of this project but `outcome.py` beside them.
"""
