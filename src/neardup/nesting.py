# ruff: noqa: SIM109 - comparisons, because the compiler makes a loop of `in` and takes half as long again
"""Whether a page's tree can be built and walked in linear time: one pass over its bytes, before anything parses them.

The tree of a page costs the square of its depth (every start tag looks through the elements that are open), the square
of the attributes of a tag (each is compared with those before), the product of paragraphs and open formatting elements
(HTML's rules open those again in every paragraph: `<b a=1><b a=2>…</p><p>x<p>x`), and its text the product of lines and
nested lists (indentation). Each is bounded here from above, by the structure alone, and pages beyond a bound are read
without a tree. No real page of 3,870 looked at comes near: at most 35 elements deep, where 200 are allowed.

The pass keeps a stack of open elements as the WHATWG's tree construction does, and errs on one side only: an end tag
closes an element where the rules surely close it, and is passed over where that depends on more than is kept here.
What is not on the stack (p, button, option, rows) the rules close by themselves, so that only a constant number of them
is open between two elements that are. Where the tokenizer's own state is in doubt (raw text in svg, math, select),
a "<" is enough to give the page up.

The loop is long because it is one: a compiled function calls no other of another module.

The function is plain Python over a sequence of bytes. `kernels.nesting` compiles it (1.5 ns a byte); a process that has
no compiler runs it as it is, for the few pages in encodings in which a byte is not a character of markup.
"""

from typing import Any

MOST_TAGS = 20_000
"""Pages with more are not parsed into a tree."""

DEEPEST = 200
STEPS = 1 << 20
ATTRIBUTES = 1 << 20
REOPENED = 1 << 19
INDENTED = 1 << 19
MOST_LISTS = 32
"""Bounds: open elements; their sum over all tags, because the guess of the main content walks up from every one (0.4 µs
a step); squares of attributes per tag, formatting opened again, and characters of indentation, each of which may be
larger by a small multiple of the page's size; lists in lists."""

ROOM = DEEPEST + 8

_OTHER, _VOID, _FORMAT, _ANCHOR, _BLOCK, _UNSURE, _HEADING, _LI, _DD, _FORM = range(10)
_TABLE, _CELL, _ROW, _WALL, _STRICT, _FOREIGN, _RAW, _OFF, _LIST, _PRE, _DIV, _GLYPH = range(10, 22)
_LESS, _GREATER, _SLASH, _MINUS, _BANG, _EQUALS, _DOUBLE, _SINGLE, _QUESTION, _BRACKET, _CLOSING = b"<>/-!=\"'?[]"
_NEWLINE = 10
# fmt: off
_NAMES = {
    _VOID: "area base basefont bgsound body br col embed frame head hr html image img input keygen link meta param "
           "source track wbr",
    _FORMAT: "b big code em font i s small strike strong tt u",
    _ANCHOR: "a nobr",
    _BLOCK: "article aside blockquote center dir dl fieldset figcaption figure footer header listing main "
            "menu nav section",
    _UNSURE: "details dialog hgroup noscript plaintext search summary",
    _HEADING: "h1 h2 h3 h4 h5 h6",
    _LI: "li",
    _DD: "dd dt",
    _FORM: "form",
    _TABLE: "table",
    _CELL: "caption td th",
    _ROW: "colgroup tbody tfoot thead tr",
    _WALL: "applet marquee object template",
    _STRICT: "annotation-xml desc foreignobject frameset mi mn mo ms mtext select",
    _FOREIGN: "math svg",
    _RAW: "iframe noembed noframes script style textarea title xmp",
    _OFF: "button option p",
    _LIST: "ol ul",
    _PRE: "pre",
    _DIV: "address div",
    _GLYPH: "malignmark mglyph",
}
_LEAVES = (
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta "
    "nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
)
# fmt: on
"""Names by their kind, and those that end an svg or a formula before them."""


def _hash(name: bytes) -> int:
    value = 0
    for byte in name:
        value = (value * 31 + byte) & 0x7FFFFFFF
    return value


def _tables() -> tuple[list[int], list[int], list[int], bytes]:
    rows = [(_hash(name.encode()), kind, name) for kind, names in _NAMES.items() for name in names.split()]
    rows += [(_hash(name.encode()), _OTHER, name) for name in ("ruby", "span", "sub", "sup", "var")]
    rows.sort()
    letters, begins, leaves = b"", [], _LEAVES.split()
    for _, _, name in rows:
        begins.append(len(letters))
        letters += name.encode()
    begins.append(len(letters))
    kinds = [kind + (64 if name in leaves else 0) + (128 if name == "script" else 0) for _, kind, name in rows]
    return [row[0] for row in rows], kinds, begins, letters


HASHES, KINDS, BEGINS, LETTERS = _tables()
"""Of the names that HTML's rules know, in the order of their hashes: hash, kind, and where the name stands."""


def affordable(page: bytes) -> bool:
    """Return whether a page in an encoding of which ASCII is a part may be parsed into a tree; without a compiler."""
    stack = [[0] * ROOM for _ in range(5)]
    return walk(page, HASHES, KINDS, BEGINS, LETTERS, *stack) == 0


def walk(
    data: Any,
    hashes: Any,
    kinds: Any,
    begins: Any,
    letters: Any,
    ids: Any,
    starts: Any,
    sizes: Any,
    weights: Any,
    what: Any,
) -> int:
    """Return 0 for a page that may be parsed into a tree, else the number of the bound that it breaks.

    ids, starts, sizes, weights and what are room for the stack: of each open element the hash of its name, where that
    stands and how long it is, how much it costs to open it again, and its kind (with 64 where it is foreign).
    """
    size = len(data)
    tags = 0
    for i in range(size):
        if data[i] == _LESS:
            tags += 1
    if tags > MOST_TAGS:
        return 1
    depth = lists = foreign = walls = markers = pre = 0
    last = same_last = lost_many = 0
    active = lost = squares = reopened = indented = steps = 0
    at = 0
    while at < size:
        if pre > 0 and lists > 0:
            while at < size and data[at] != _LESS:
                if data[at] == _NEWLINE:
                    indented += 2 * lists + 2
                at += 1
        else:
            while at < size and data[at] != _LESS:
                at += 1
        if at + 1 >= size:
            break
        begin = at
        byte = data[at + 1]
        end_tag = byte == _SLASH
        first = at + 2 if end_tag else at + 1
        letter = data[first] | 32 if first < size else 0
        if not 97 <= letter <= 122 or data[first] >= 128 or data[first] < 65:
            if byte == _BANG and at + 3 < size and data[at + 2] == _MINUS and data[at + 3] == _MINUS:  # <!--
                at += 4
                if at < size and data[at] == _GREATER:
                    at += 1
                    continue
                if at + 1 < size and data[at] == _MINUS and data[at + 1] == _GREATER:
                    at += 2
                    continue
                while at < size:
                    if data[at] == _MINUS and at + 2 < size and data[at + 1] == _MINUS:
                        if data[at + 2] == _GREATER:
                            at += 3
                            break
                        if data[at + 2] == _BANG and at + 3 < size and data[at + 3] == _GREATER:
                            at += 4
                            break
                    at += 1
                continue
            if byte == _BANG or byte == _QUESTION or end_tag:  # a bogus comment, a declaration, or CDATA
                if byte == _BANG and at + 2 < size and data[at + 2] == _BRACKET and foreign > 0:
                    at += 3
                    while at < size and not (
                        data[at] == _GREATER and data[at - 1] == _CLOSING and data[at - 2] == _CLOSING
                    ):
                        if data[at] == _LESS or data[at] == _GREATER:
                            return 6
                        at += 1
                while at < size and data[at] != _GREATER:
                    at += 1
                at += 1
                continue
            at += 1
            continue
        # The name.
        at = first
        name = 0
        while at < size:
            byte = data[at]
            if byte == _GREATER or byte == _SLASH or (byte == 32 or (9 <= byte <= 13 and byte != 11)):
                break
            if 65 <= byte <= 90:
                byte += 32
            name = (name * 31 + byte) & 0x7FFFFFFF
            at += 1
        length = at - first
        # The attributes.
        attributes = 0
        slash = False
        closed = False
        while at < size:
            byte = data[at]
            if byte == _GREATER:
                at += 1
                closed = True
                break
            if byte == 32 or (9 <= byte <= 13 and byte != 11):
                slash = False
                at += 1
                continue
            if byte == _SLASH:
                slash = True
                at += 1
                continue
            slash = False
            attributes += 1
            at += 1
            while at < size:
                byte = data[at]
                if (
                    byte == _GREATER
                    or byte == _SLASH
                    or byte == _EQUALS
                    or (byte == 32 or (9 <= byte <= 13 and byte != 11))
                ):
                    break
                at += 1
            after = at
            while after < size and (data[after] == 32 or (9 <= data[after] <= 13 and data[after] != 11)):
                after += 1
            if after < size and data[after] == _EQUALS:
                at = after + 1
                while at < size and (data[at] == 32 or (9 <= data[at] <= 13 and data[at] != 11)):
                    at += 1
                if at < size and (data[at] == _DOUBLE or data[at] == _SINGLE):
                    quote = data[at]
                    at += 1
                    while at < size and data[at] != quote:
                        at += 1
                    at += 1
                else:
                    while at < size:
                        byte = data[at]
                        if byte == _GREATER or (byte == 32 or (9 <= byte <= 13 and byte != 11)):
                            break
                        at += 1
        if not closed:
            break  # what is left open at the end is no tag
        squares += attributes * attributes
        # What kind of element it is.
        kind = 0
        low, high = 0, len(hashes)
        while low < high:
            middle = (low + high) >> 1
            if hashes[middle] < name:
                low = middle + 1
            else:
                high = middle
        while low < len(hashes) and hashes[low] == name:
            if begins[low + 1] - begins[low] == length:
                same = True
                for i in range(length):
                    byte = data[first + i]
                    if 65 <= byte <= 90:
                        byte += 32
                    if byte != letters[begins[low] + i]:
                        same = False
                        break
                if same:
                    kind = kinds[low]
                    break
            low += 1
        breakout = kind & 64 != 0
        script = kind & 128 != 0
        kind &= 63
        if kind == _GLYPH:
            if foreign > 0:
                return 6  # foreign, or not
            kind = _OTHER
        # Up to which element it closes others: `keep` stay open.
        keep = depth
        if end_tag:
            if (
                kind == _VOID
                or kind == _ROW
                or kind == _OFF
                or kind == _CELL
                or (kind == _RAW and foreign == 0)
                or length > 64
            ):
                continue
            for i in range(depth - 1, -1, -1):
                other = what[i] & 63
                if kind == _HEADING:
                    found = other == _HEADING
                else:
                    found = ids[i] == name and sizes[i] == length
                    if found:
                        for j in range(length):
                            one, two = data[starts[i] + j], data[first + j]
                            if 65 <= one <= 90:
                                one += 32
                            if 65 <= two <= 90:
                                two += 32
                            if one != two:
                                found = False
                                break
                if found:
                    keep = i
                    break
                if kind == _FORM or other == _WALL or other == _STRICT or other == _TABLE:
                    break
                if other == _CELL and kind != _TABLE:
                    break
                if kind == _LI and other == _LIST:
                    break
                special = _BLOCK <= other <= _FORM or other >= _LIST
                if special and not (
                    kind == _BLOCK or _HEADING <= kind <= _DD or kind == _TABLE or kind == _WALL or kind >= _LIST
                ):
                    break
            if (
                keep == depth
                and (kind == _FORMAT or kind == _ANCHOR)
                and markers == 0
                and last == name
                and same_last > 0
            ):
                lost -= 1  # of those that lost their parent, one is closed
                lost_many -= 1
                same_last -= 1
        elif depth > 0 and what[depth - 1] >= 64:  # in svg or math, outside of what holds HTML
            if breakout:
                while keep > 0 and what[keep - 1] >= 64:
                    keep -= 1
        elif kind == _LI or kind == _DD:
            for i in range(depth - 1, -1, -1):
                other = what[i] & 63
                if other == kind:
                    keep = i
                    break
                if _BLOCK <= other <= _STRICT or other == _LIST or other == _PRE:
                    break
        elif kind == _ANCHOR:
            for i in range(depth - 1, -1, -1):
                other = what[i] & 63
                if other == _ANCHOR and ids[i] == name:
                    keep = i
                    break
                if _BLOCK <= other <= _STRICT or other >= _LIST:
                    break
            if keep == depth and markers == 0 and last == name and same_last > 0:
                lost -= 1
                lost_many -= 1
                same_last -= 1
        elif kind == _CELL or kind == _ROW:
            inside = False
            for i in range(depth - 1, -1, -1):
                other = what[i] & 63
                if other == _TABLE:
                    keep = i + 1
                    inside = True
                    break
                if other == _WALL or other == _STRICT:
                    break
            if not inside:
                continue  # passed over outside of tables
        pending = pending_many = 0
        while depth > keep:
            depth -= 1
            other = what[depth] & 63
            if other == _FORMAT or other == _ANCHOR:
                active -= weights[depth]
                if depth > keep or (kind != _FORMAT and kind != _ANCHOR):
                    pending += weights[depth]
                    pending_many += 1
                    if ids[depth] == last:
                        same_last += 1
                    else:
                        last, same_last = ids[depth], 1
            elif other == _LIST:
                lists -= 1
            elif other == _PRE:
                pre -= 1
            elif other == _FOREIGN:
                foreign -= 1
            elif _TABLE <= other <= _STRICT:
                markers -= 1
                if other != _TABLE and other != _STRICT:
                    pending = pending_many = same_last = 0  # a cell or an object takes its formatting with it
                if other >= _WALL:
                    walls -= 1
        lost += pending
        lost_many += pending_many
        reopened += active + lost
        steps += depth
        if (
            steps > STEPS
            or reopened > size + REOPENED
            or squares > 16 * size + ATTRIBUTES
            or indented > 2 * size + INDENTED
        ):
            return 3
        if end_tag:
            continue
        # What it opens.
        inner = depth > 0 and what[depth - 1] >= 64
        if inner or kind == _FOREIGN:
            if slash:
                continue
            if kind == _RAW:  # raw text, or not: in doubt unless its end comes next
                stop = at
                while stop < size and data[stop] != _LESS:
                    stop += 1
                if stop + 2 + length < size:
                    same = data[stop + 1] == _SLASH
                    i = 0
                    while same and i < length:
                        same = data[stop + 2 + i] | 32 == data[first + i] | 32
                        i += 1
                    if not same:
                        return 6
                continue
            mark = 64
            if inner:
                root = depth - 1
                while root > 0 and what[root] & 63 != _FOREIGN:
                    root -= 1
                in_svg = sizes[root] == 3
                if kind == _FOREIGN and length == 3 and not in_svg:
                    return 6  # in an annotation-xml it is an svg, else an element of the formula
                if kind == _FORMAT and attributes > 0:
                    return 6  # font, which leaves svg with some attributes and not with others
                if kind == _STRICT and length == 14 and not in_svg:  # annotation-xml, in which HTML may be
                    for i in range(begin, at):
                        if data[i] == 38 or (i + 3 < at and data[i] | 32 == 104 and data[i + 3] | 32 == 108):
                            return 6
                holds = (length == 4 or length == 13) if in_svg else (length == 2 or length == 5)
                if kind == _STRICT and holds:  # desc and foreignobject, mi and mtext: HTML is in them
                    mark = 0
                else:
                    kind = _OTHER
        else:
            mark = 0
            if kind == _VOID or kind == _ROW or kind == _OFF:
                continue
            if kind == _RAW:
                doubt = foreign > 0 or walls > 0
                escaped = double = False
                while at < size:
                    if escaped:
                        while at < size and data[at] != _LESS and data[at] != _GREATER:
                            at += 1
                    else:
                        while at < size and data[at] != _LESS:
                            at += 1
                    if at + 1 >= size:
                        at = size
                        break
                    if data[at] == _GREATER:
                        if data[at - 1] == _MINUS and data[at - 2] == _MINUS:
                            escaped = double = False
                    elif data[at + 1] == _SLASH:
                        if at + 2 + length < size:
                            byte = data[at + 2 + length]
                            same = (
                                byte == _GREATER or byte == _SLASH or (byte == 32 or (9 <= byte <= 13 and byte != 11))
                            )
                            i = 0
                            while same and i < length:
                                same = data[at + 2 + i] | 32 == data[first + i] | 32
                                i += 1
                            if same and not double:
                                break
                            if same:
                                double = False
                        if doubt:
                            return 6
                    elif doubt:
                        return 6
                    elif script and not escaped:
                        if (
                            at + 3 < size
                            and data[at + 1] == _BANG
                            and data[at + 2] == _MINUS
                            and data[at + 3] == _MINUS
                        ):
                            escaped = True
                            at += 3
                    elif script and at + 7 < size:
                        byte = data[at + 7]
                        same = byte == _GREATER or byte == _SLASH or (byte == 32 or (9 <= byte <= 13 and byte != 11))
                        i = 0
                        while same and i < 6:
                            same = data[at + 1 + i] | 32 == data[first + i] | 32
                            i += 1
                        if same:
                            double = True
                    at += 1
                continue
        if depth + lost_many >= DEEPEST:
            return 2
        ids[depth], starts[depth], sizes[depth], what[depth] = name, first, length, kind + mark
        weights[depth] = 1 + (at - begin) // 8
        if kind == _FORMAT or kind == _ANCHOR:
            active += weights[depth]
        elif kind == _LIST:
            lists += 1
            if lists > MOST_LISTS:
                return 4
        elif kind == _PRE:
            pre += 1
        elif kind == _FOREIGN:
            foreign += 1
        elif _TABLE <= kind <= _STRICT:
            markers += 1
            if kind >= _WALL:
                walls += 1
        depth += 1
    return 0
