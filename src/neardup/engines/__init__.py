"""Where the work runs.

local      threads on this machine, in bounded memory, resumable
sketching  a batch of documents → sketches
work       the work folder: what is done stays done
steps      what is going on, how fast, and what it cost
"""
