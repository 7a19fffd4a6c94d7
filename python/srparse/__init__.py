"""Fast constituency parsing.

>>> import srparse
>>> parser = srparse.load()
>>> print(parser.parse("These cells divided."))
(TOP (S (NP (DT These) (NNS cells)) (VP (VBD divided)) (. .)))

`load` gives a parser, `train` makes one, `evaluate` and `compare` score trees. `srparse.nltk`, `srparse.spacy` and
`srparse.spark` connect it with what you use.
"""

from ._srparse import (
    EMBEDDED_MODELS,
    Comparison,
    Match,
    Parser,
    Parses,
    Scores,
    Tree,
    __version__,
    compare,
    evaluate,
    load,
    read_trees,
    split_text,
    train,
)
from ._token import Token

__all__ = [
    "EMBEDDED_MODELS",
    "Comparison",
    "Match",
    "Parser",
    "Parses",
    "Scores",
    "Token",
    "Tree",
    "__version__",
    "compare",
    "evaluate",
    "load",
    "read_trees",
    "split_text",
    "train",
]
