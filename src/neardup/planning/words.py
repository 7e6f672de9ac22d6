"""Bytes, counts and hours as people read them: three digits and a unit."""


def size(value: float) -> str:
    """Bytes."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if value >= 99.95 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.2f} PB"


def count(value: float) -> str:
    """Of documents."""
    for name, one in (("billion", 1e9), ("million", 1e6)):
        if value >= one:
            return f"{value / one:,.4g} {name}"
    return f"{value:,.0f}"


def duration(hours: float) -> str:
    """Minutes, hours or days."""
    if hours < 1 / 60:
        return "less than a minute"
    if hours < 2:
        return f"{hours * 60:.0f} minutes"
    return f"{hours:,.1f} hours" if hours < 48 else f"{hours / 24:,.1f} days"
