"""Where documents come from, and where the kept ones go back to.

    discover        files, folders, globs and URLs → input files
    stamps          whether an input is still the one that was found
    fields          which columns are the text, the id, the address
    problems        what could not be read: raised, collected, or written to disk
    base            Fields, InputFile, Split, Documents; Format: splits, read, table, write
    parquet         Apache Parquet; pages tells how much its rows take before they are unpacked
    jsonl           JSON Lines, kept byte for byte; jsonl_problems says what is wrong with a line
    csv             CSV, TSV
    lines           a line of a text file is a document
    folder          a file is a document: text files, HTML pages
    warc            WARC and WET files; warc_records frames them, http undoes encodings within a limit
    table           tables and lists in memory
    tabular         what formats with named columns share
    linewise        files of lines: byte ranges, blocks, line numbers
    compression     .gz .zst .bz2 .xz
    files           opening files, here or far away; their names in print
    ahead           reading in a thread of its own
    stdin           what comes on standard input

`FORMATS` has one instance of each format by its name; `format_of` is the one that reads an input file.
"""

from neardup.sources.base import Documents, Fields, Format, InputFile, Split
from neardup.sources.discover import Inputs, discover
from neardup.sources.fields import choose
from neardup.sources.formats import FORMATS, format_of
from neardup.sources.problems import Problem, Problems
from neardup.sources.stamps import stamp_of
from neardup.sources.table import from_object

__all__ = [
    "FORMATS",
    "Documents",
    "Fields",
    "Format",
    "InputFile",
    "Inputs",
    "Problem",
    "Problems",
    "Split",
    "choose",
    "discover",
    "format_of",
    "from_object",
    "stamp_of",
]
