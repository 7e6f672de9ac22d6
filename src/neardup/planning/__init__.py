"""What a run will cost, on paper: bytes, core-hours and memory of a collection that nobody has read yet.

    constants   what was measured: constants.toml, written by benchmarks.scale.engines --constants
    footprint   a recipe → bytes per document: sketch, keys, shingle set
    cluster     a collection on a Spark cluster: what each step reads, shuffles and computes
    machine     the same on one machine, and how large a collection may be for that
    plan        both, with the advice in one sentence
    words       bytes, counts and hours as people read them

What depends on the recipe follows from the recipe; what a byte or a key costs was measured; prices and bandwidths are
assumed, and said to be.
"""

from neardup.planning.plan import Assumed, Collection, Plan, make_plan

__all__ = ["Assumed", "Collection", "Plan", "make_plan"]
