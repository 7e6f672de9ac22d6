"""How right was this run? What it missed is measured; whether what it removed is right, people say.

neighbours   sampled documents against all others, by their sketches
judging      pairs → what decides about them, by the recipe's own rule
measured     removed documents, measured again
recall       the three above → RecallAudit
strata       which removed documents people look at
labels       what people say, as it is said
precision    labels → the share of removals that are right
session      pairs, labels, export: LabellingSession
answering    the page (label.html, label.css, label.js), what it asks and is answered
server       its server
intervals    how far all of these may be off

import neardup
from neardup.audit import measure_recall
audit = measure_recall(neardup.Result.open("clean/"))
audit.removals          # a share with its interval
"""

from neardup.audit.precision import Precision
from neardup.audit.recall import RecallAudit, measure_recall
from neardup.audit.server import app, serve
from neardup.audit.session import LabellingSession

__all__ = ["LabellingSession", "Precision", "RecallAudit", "app", "measure_recall", "serve"]
