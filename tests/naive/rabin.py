"""Rabin fingerprints from their definition: polynomial division, a bit at a time, on Python's integers."""

from tests.naive import text as naive_text


def remainder(a: int, polynomial: int) -> int:
    for bit in range(a.bit_length() - 1, polynomial.bit_length() - 2, -1):
        if a >> bit & 1:
            a ^= polynomial << (bit - polynomial.bit_length() + 1)
    return a


def fingerprint(data: bytes, polynomial: int) -> int:
    """The string with a 1 in front."""
    return remainder(int.from_bytes(b"\x01" + data, "big"), polynomial)


def irreducible(polynomial: int) -> bool:
    """No polynomial of degree 1 to half of its own divides it."""
    degree = polynomial.bit_length() - 1
    return degree > 0 and all(remainder(polynomial, q) for q in range(2, 1 << degree // 2 + 1))


def token(token: object, polynomial: int) -> int:
    """Of a line: its words with a space between."""
    return fingerprint((" ".join(token) if isinstance(token, tuple) else str(token)).encode(), polynomial)


def shingle(tokens: tuple[int, ...], polynomial: int) -> int:
    return fingerprint(b"".join(t.to_bytes(8, "big") for t in tokens), polynomial)


def tokens(text: str, kind: str, polynomial: int) -> list[int]:
    return [token(t, polynomial) for t in naive_text.tokens(text, kind)]


def shingles(text: str, kind: str, w: int, polynomial: int, second: int) -> list[int]:
    return [shingle(s, second) for s in naive_text.shingles(tokens(text, kind, polynomial), w)]


def numbered(found: list[int]) -> list[int]:
    """The k-th occurrence (from 0) is an element of its own."""
    seen: dict[int, int] = {}
    result = []
    for f in found:
        k = seen.get(f, 0)
        seen[f] = k + 1
        result.append(naive_text.mix((f + k * naive_text.P) & naive_text.MASK) if k else f)
    return result


def features(smallest: list[int], k: int, s: int, polynomial: int) -> list[int]:
    """Each group with its number in front, four bytes each."""
    return [
        fingerprint(b"".join(v.to_bytes(4, "big") for v in [g, *smallest[g * s : (g + 1) * s]]), polynomial)
        for g in range(k)
    ]
