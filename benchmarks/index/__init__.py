"""The living index: which engine holds it, how fast it is, how large it gets, and how right it is.

engines      the same index in several engines
corpus       documents with planted copies, and what is true of them
speed        an index filled and asked; in a folder, and on a server
peers        the same documents through datasketch; racing, run_neardup and run_datasketch are the course
http         a service asked by wrk and by streams; serving starts one
mixed        everything at once against a service, and whether its memory stays
processes    memory, CPU, machine, tables
"""
