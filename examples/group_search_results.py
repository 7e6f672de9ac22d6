"""Ask a search engine and print its results without repeats: python group_search_results.py URL [THRESHOLD].

The URL is a search that answers with JSON, for example

    http://localhost:9200/pages/_search?q=ferry&size=100          Elasticsearch, OpenSearch
    http://localhost:8983/solr/pages/select?q=ferry&rows=100      Solr
    http://localhost:7700/indexes/pages/search?q=ferry&limit=100  Meilisearch
    http://localhost:8888/search?q=ferry&format=json              SearXNG
"""

import json
import sys
from urllib.request import urlopen

import neardup

with urlopen(sys.argv[1], timeout=30) as answer:
    response = json.load(answer)
grouped = neardup.group(response, threshold=float(sys.argv[2]) if len(sys.argv) > 2 else 0.7)
results = grouped.page.results
for group in grouped.groups:
    print(f"{group.anchor + 1}. {results[group.anchor].title or grouped.id(group.anchor)}")
    for place, relation, match, _ in group.members:
        print(f"      {relation}, {match:.0%}: {place + 1}. {results[place].title or grouped.id(place)}")
print(f"{len(results)} results, {grouped.folded} of them similar to a better one", file=sys.stderr)
