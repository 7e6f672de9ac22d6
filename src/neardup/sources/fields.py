"""Which columns are the text, the id and the address, if nobody says: by their usual names, and said aloud."""

from dataclasses import replace
from difflib import get_close_matches

from neardup.errors import InputError, UsageError
from neardup.sources.base import Fields, Format, InputFile, Quoting
from neardup.sources.formats import format_of
from neardup.sources.tabular import place

TEXT_NAMES = (
    "text", "content", "contents", "body", "raw_content", "document", "article", "page_content", "full_text",
    "maintext", "page_text", "passage", "markdown", "description", "html", "raw_html", "page_html",
    "content_html",
)  # fmt: skip
"""Names of text columns, the likelier first."""

HTML_NAMES = ("html", "raw_html", "page_html", "content_html")
"""Those whose content is HTML."""

ID_NAMES = (
    "id", "doc_id", "docid", "document_id", "_id", "uuid", "guid", "key", "docno", "record_id",
    "warc_record_id", "warc-record-id", "page_id", "article_id", "sha1", "digest",
)  # fmt: skip
"""Names of id columns. Addresses are not among them: one page can be fetched more than once."""

URL_NAMES = (
    "url",
    "uri",
    "source_url",
    "page_url",
    "link",
    "warc_target_uri",
    "warc-target-uri",
    "target_uri",
)
"""Names of columns with addresses."""

NONE = "none"
"""Given as a column's name it means: there is none."""


def choose(
    file: InputFile,
    *,
    text: str | None = None,
    id: str | None = None,
    url: str | None = None,
    columns: tuple[str, ...] = (),
    quoting: Quoting | None = None,
) -> tuple[Fields, list[str]]:
    """The columns to read, and sentences that tell the user what was guessed."""
    if quoting not in (None, "standard", "none"):
        raise UsageError(f"quoting = {quoting!r}: choose standard or none.")
    file = file.with_fields(replace(file.fields, quoting=quoting))
    format = format_of(file)
    if not format.tabular:
        return _untabular(file, format, text=text, id=id, url=url, columns=columns), []
    kinds = format.columns(file)
    if not kinds:  # such a file among others is no reason to stop, and what is wrong in it is told where it is read
        return Fields(text or "text", None, None, (), quoting=quoting), [f"{file.name}: {_without_columns(file)}"]
    for asked, option in ((text, "--text-field"), (id, "--id-field"), (url, "--url-field")):
        if asked is not None and asked != NONE and asked not in kinds:
            raise UsageError(_missing(file, asked, option, kinds))
    for column in columns:
        if column not in kinds:
            raise UsageError(_missing(file, column, None, kinds))
    if format.name != "jsonl":  # there every line is asked for itself
        _refuse_unfit(file, text, "--text-field", kinds, ("number",))
        _refuse_unfit(file, url, "--url-field", kinds, ("other",))
    chosen_text = text or _guess_text(file, kinds)
    chosen_id = _named(id, ID_NAMES, kinds, ("text", "number"), but=chosen_text)
    chosen_url = _named(url, URL_NAMES, kinds, ("text",), but=chosen_text)
    html = chosen_text.lower() in HTML_NAMES
    fields = Fields(chosen_text, chosen_id, chosen_url, columns, html, quoting)
    return fields, format.guessed(file) + _said(file, fields, text_given=text is not None, id_given=id is not None)


def _refuse_unfit(
    file: InputFile, asked: str | None, option: str, kinds: dict[str, str], unfit: tuple[str, ...]
) -> None:
    if asked is None or kinds.get(asked) not in unfit:
        return
    texts = [name for name, kind in kinds.items() if kind in ("text", "bytes")]
    there = f"Columns with text are {', '.join(map(repr, texts[:20]))}" if texts else "No column holds text"
    held = "numbers" if kinds[asked] == "number" else "values of another type"
    raise UsageError(f"{place(file)}: the column {asked!r} ({option}) holds {held} and no text. {there}.")


def _said(file: InputFile, fields: Fields, *, text_given: bool, id_given: bool) -> list[str]:
    guessed: list[str] = []
    options: list[str] = []
    if not text_given:
        guessed.append(f"text from {fields.text!r}" + (", which is taken for HTML" if fields.html else ""))
        options.append("--text-field")
    if not id_given:
        guessed.append(f"ids from {fields.id!r}" if fields.id else "ids by row, as there is no id column")
        options.append("--id-field")
    if not guessed:
        return []
    return [f"{file.name}: {', '.join(guessed)} (guessed; choose with {', '.join(options)})"]


def _untabular(
    file: InputFile,
    format: Format,
    *,
    text: str | None,
    id: str | None,
    url: str | None,
    columns: tuple[str, ...],
) -> Fields:
    """Formats that know their texts.

    WARC files have ids, addresses and a few columns; the others have none.
    """
    kinds = format.columns(file)
    if text is not None:
        raise UsageError(f"{place(file)}: {format.name} files have no columns; leave --text-field away")
    if id not in (None, NONE, *kinds):
        raise UsageError(f"{place(file)}: {format.name} files name their documents themselves; leave --id-field away")
    for column in columns:
        if column not in kinds:
            raise UsageError(_missing(file, column, None, kinds))
    if url not in (None, NONE, *kinds):
        raise UsageError(_missing(file, str(url), "--url-field", kinds))
    address = None if url == NONE else url or ("url" if "url" in kinds else None)
    return Fields(None, None if id == NONE else id, address, columns, html=format.name == "html")


def _guess_text(file: InputFile, kinds: dict[str, str]) -> str:
    readable = [name for name, kind in kinds.items() if kind in ("text", "bytes")]
    lower = {name.lower(): name for name in reversed(readable)}
    for name in TEXT_NAMES:
        if name in lower:
            return lower[name]
    left = [n for n in readable if n.lower() not in (*ID_NAMES, *URL_NAMES)]
    if len(left) == 1:
        return left[0]
    raise InputError(
        f"{place(file)}: which column is the text? There are {_listed(kinds)}. Choose with --text-field."
        if readable
        else f"{place(file)}: no column holds text. There are {_listed(kinds)}."
    )


def _named(
    given: str | None, names: tuple[str, ...], kinds: dict[str, str], fit: tuple[str, ...], *, but: str
) -> str | None:
    if given is not None:
        return None if given == NONE else given
    lower = {name.lower(): name for name in reversed(kinds) if kinds[name] in fit and name != but}
    return next((lower[name] for name in names if name in lower), None)


def _without_columns(file: InputFile) -> str:
    if not file.size:
        return "is empty"
    return "none of its first lines is a JSON object" if file.format == "jsonl" else "has no columns"


def _missing(file: InputFile, asked: str, option: str | None, kinds: dict[str, str]) -> str:
    close = get_close_matches(asked, kinds, n=1) or [k for k in kinds if k.lower() == asked.lower()]
    hint = f" Did you mean {close[0]!r}?" if close else ""
    where = f" ({option})" if option else ""
    return f"{place(file)}: there is no column {asked!r}{where}.{hint} There are {_listed(kinds)}."


def _listed(kinds: dict[str, str]) -> str:
    shown = [f"{name!r}" + ("" if kind == "text" else f" ({kind})") for name, kind in kinds.items()]
    more = f" and {len(shown) - 20} more" if len(shown) > 20 else ""
    return (", ".join(shown[:20]) + more) or "none"
