"""Which documents a query finds, from the definition: lists of words, one looked for in the other."""

Words = list[str]


def contains(tokens: Words, run: Words) -> bool:
    """Whether the words of a run stand in a text, one behind the other."""
    return any(tokens[i : i + len(run)] == run for i in range(len(tokens) - len(run) + 1))


def found(documents: list[Words], wanted: list[Words], without: list[Words]) -> list[int]:
    """The numbers of the documents that have every wanted run, and none of the others."""
    return [
        number
        for number, tokens in enumerate(documents)
        if all(contains(tokens, run) for run in wanted) and not any(contains(tokens, run) for run in without)
    ]
