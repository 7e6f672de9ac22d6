"""Pass on the pages of a crawl that are new: python crawler_client.py http://127.0.0.1:8080 < pages.jsonl > new.jsonl.

Each line has an id (or a url) and text or html. New pages go to standard output as they are; a summary goes to standard
error. The token, if the service needs one, is in NEARDUP_WRITE_TOKEN.

A page is written after the service has it on disk. After a crash, send again what is not in the output: a page that the
service has and the output has not is then similar to itself, and is written.
"""

import json
import os
import sys
from collections import deque

import neardup

waiting: deque[str] = deque()  # lines that were sent and are not answered; streams keep this short


def pages():
    for line in sys.stdin:
        page = json.loads(line)
        waiting.append(line)
        yield {"id": page.get("id") or page["url"], **{k: page[k] for k in ("text", "html", "url") if k in page}}


new = seen = 0
with neardup.Client(sys.argv[1], token=os.environ.get("NEARDUP_WRITE_TOKEN")) as client:
    for verdict in client.check_and_add_many(pages()):
        line = waiting.popleft()
        seen += 1
        if verdict.new or verdict.match.id == verdict.id:
            new += 1
            sys.stdout.write(line)
            sys.stdout.flush()
print(f"{seen:,} pages, {new:,} new", file=sys.stderr)
