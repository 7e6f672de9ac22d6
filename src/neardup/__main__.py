"""python -m neardup."""

import os
import sys

if not sys.flags.safe_path and sys.path and sys.path[0] == os.getcwd():
    del sys.path[0]  # what -m put there: a queue.py in the folder of the pages is not Python's

from neardup.cli import main

main()
