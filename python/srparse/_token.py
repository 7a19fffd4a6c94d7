"""Tokens of trees."""

from typing import NamedTuple


class Token(NamedTuple):
    """A word and its part-of-speech tag, which is empty if it has none."""

    word: str
    tag: str = ""
