"""Fast constituency parsing.

>>> import srparse
>>> parser = srparse.load()
>>> print(parser.parse("These cells died."))
(TOP (S (NP (DT These) (NNS cells)) (VP (VBD died)) (. .)))

`load` gives a parser, `train` makes one, `evaluate` and `compare` score trees. `srparse.nltk`, `srparse.spacy` and
`srparse.spark` connect it with what you use.
"""

from importlib.util import find_spec as _find_spec

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
from ._srparse import _use_models
from ._token import Token

# The package `srparse-models` holds model files and nothing else.
_models = _find_spec("srparse_models")
if _models is not None and _models.submodule_search_locations:
    _use_models(list(_models.submodule_search_locations)[0])

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
