"""BLAKE3 from its specification (section 2), on Python's integers."""

IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
COLUMNS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
DIAGONALS = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8


def rotated(x: int, n: int) -> int:
    return (x >> n | x << (32 - n)) & 0xFFFFFFFF


def compressed(value: list[int], block: bytes, counter: int, flags: int) -> list[int]:
    """The chaining value after one block."""
    message = [int.from_bytes(block.ljust(64, b"\0")[i : i + 4], "little") for i in range(0, 64, 4)]
    v = [*value, *IV[:4], counter & 0xFFFFFFFF, counter >> 32, len(block), flags]
    for _ in range(7):
        for n, (a, b, c, d) in enumerate([*COLUMNS, *DIAGONALS]):
            for x, first, second in ((message[2 * n], 16, 12), (message[2 * n + 1], 8, 7)):
                v[a] = (v[a] + v[b] + x) & 0xFFFFFFFF
                v[d] = rotated(v[d] ^ v[a], first)
                v[c] = (v[c] + v[d]) & 0xFFFFFFFF
                v[b] = rotated(v[b] ^ v[c], second)
        message = [message[i] for i in PERMUTATION]
    return [v[i] ^ v[i + 8] for i in range(8)]


def value_of(data: bytes, first: int, flags: int) -> list[int]:
    """Of a subtree that begins with chunk number `first`."""
    chunks = max(1, -(-len(data) // 1024))
    if chunks == 1:
        value = IV
        blocks = [data[i : i + 64] for i in range(0, max(1, len(data)), 64)]
        for n, block in enumerate(blocks):
            ends = (CHUNK_START if n == 0 else 0) | (CHUNK_END | flags if n == len(blocks) - 1 else 0)
            value = compressed(value, block, first, ends)
        return value
    left = 1 << (chunks - 1).bit_length() - 1
    children = value_of(data[: 1024 * left], first, 0) + value_of(data[1024 * left :], first + left, 0)
    block = b"".join(word.to_bytes(4, "little") for word in children)
    return compressed(IV, block, 0, PARENT | flags)


def blake3(data: bytes) -> bytes:
    """256 bits."""
    return b"".join(word.to_bytes(4, "little") for word in value_of(data, 0, ROOT))
