"""An index behind HTTP, for crawlers that ask whether a page is new; and pages in a browser, for people.

    settings    limits, the tokens at the start
    server      sockets, signals, the orderly end
    protocol    limits on connections and on the head of a request
    connections which of them stay when there are too many
    heads       what two readers could understand differently
    app         who asks what, and whether there is room
    access      who asks, under which name, from which origin
    tokens      names, rights, limits, and the file that has them
    private     files that nobody else may read
    forwarding  proxies that are trusted, and what they say of clients
    tls         the certificate, and the layer below HTTP
    quotas      rates, and places that callers share
    deadlines   the time by which a request must be answered
    http        a request and its answer
    routes      every address, in one table
    indexes     the indexes that are served, by name
    endpoints   what is done for each address of one of them
    maintenance what operators do with indexes and the collection, as jobs
    preparing   what is compiled before anybody waits for it
    jobs        work that goes on after its request was answered
    turns       short work first, long work a step at a time
    lanes       the threads for both
    batching    requests that arrive together are answered together
    streams     a document per line, as many as a client likes
    measuring   documents compared and sketched without the index
    grouping    near-duplicates in search results
    weighing    how much such a request holds
    shapes      what requests and answers look like
    problems    what is answered instead (RFC 9457)
    openapi     the description for programs
    page        the description for people
    pages/      search, compare: what people look at
    metrics     counters for Prometheus
    logs        a line per request

It asks nothing of the network on anybody's behalf, and keeps nothing of a document but what the index keeps.
"""

from neardup.service.logs import Log
from neardup.service.server import address_of, listen, require, serve
from neardup.service.settings import Limits, Settings

__all__ = ["Limits", "Log", "Settings", "address_of", "listen", "require", "serve"]
