"""The report: one page that tells whether to trust a run, and shows what it did.

write_report   OUT/report.html: self-contained, opens without a network
report_data    all that is on the page, as plain values

facts         the run as arrays over documents and groups
part          the part of a large collection whose texts are read
verdict       the sentences at the top
removal       how much was removed, by source, site, length, relation; mirrored sites (places: hosts of URLs)
similarity    scores of removed documents, what a higher threshold leaves
below         what a lower threshold would take as well
browsing      a sample of groups with texts and differences
passages      templates
drawing       charts as specifications, and as SVG
collect       puts the data together
page          puts the page together, and takes it apart again

What is counted is counted over the whole collection. What needs texts is made from samples, and says so: texts are read
again, once, from a bounded part of the inputs.
"""

from neardup.report.collect import report_data
from neardup.report.page import write_report

__all__ = ["report_data", "write_report"]
