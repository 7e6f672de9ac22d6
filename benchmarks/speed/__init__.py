"""Speed beside quality: neardup and its peers from a raw file to the documents to remove.

In data order:
    vocabulary   words and their frequencies
    planting     which documents repeat which
    corpus       the file every system reads
    truth        every pair at or above a resemblance, exactly
    environments a virtual environment per peer
    peers/       one script per peer: file in, removed ids and groups out
    ours         the same for `neardup dedup`
    measure      wall time, CPU time and memory of a command
    quality      recall and precision against the truth
    machine      what the figures were measured on
    table        the figures on the screen
    __main__     the benchmark
    kernels      sketching throughput alone
    scaling      time and memory against the number of documents
    startup      import, help, first compile
"""
