"""The command line: one file per command; each parses, calls and prints.

    dedup    neardup dedup INPUT… -o OUT
    pairs    neardup pairs INPUT…
    compare  neardup compare A B
    recipes  neardup recipes [NAME]
    tune     neardup tune …            (answers: what it computes, curve: how it is drawn)
    explain  neardup explain OUT ID…
    index    neardup index create|add|check|filter|remove|info|export|compact PATH
    sample   neardup sample FOLDER
    warm     neardup warm [RECIPE]…

Shared: options (of dedup and pairs), show (progress and summaries).

stdout is data, stderr is talk. Exit code 0: fine, 1: failed, 2: used wrongly, 130: interrupted.
"""

from neardup.cli.app import main

__all__ = ["main"]
