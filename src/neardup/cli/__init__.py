"""The command line: one file per command; each parses, calls and prints.

    dedup    neardup dedup INPUT… -o OUT
    explain  neardup explain OUT ID…
    sample   neardup sample FOLDER

stdout is data, stderr is talk. Exit code 0: fine, 1: failed, 2: used wrongly, 130: interrupted.
"""

from neardup.cli.app import main

__all__ = ["main"]
