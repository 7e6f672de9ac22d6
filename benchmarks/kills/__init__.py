"""Kills at random moments, and damaged stores: nothing acknowledged is lost, and no answer is wrong.

    python -m benchmarks.kills --what filter|serve|postgres|compact|backup --kills 200
    python -m benchmarks.kills --what damage --stores 1000

victims     what is killed: a process each, forked from one that has imported everything
__main__    who kills them, at which moment, and looks for every acknowledged document afterwards
damage      flipped bits, and files that are cut, missing or swapped

The process that kills never opens an index: RocksDB's threads would be missing in the processes that it forks.
"""
