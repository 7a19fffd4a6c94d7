"""Trees and a parser for NLTK.

>>> from srparse.nltk import SRParser
>>> print(next(SRParser().parse("These cells died .".split())))
(TOP (S (NP (DT These) (NNS cells)) (VP (VBD died)) (. .)))
"""

from typing import Any, Iterable, Iterator, List, Optional, Tuple, Union

import nltk
from nltk.parse.api import ParserI

from . import Parser, Tree, load

Word = Union[str, Tuple[str, str]]


def to_nltk(tree: Tree) -> Any:
    """The `nltk.Tree` of a tree: tokens become preterminals, and words stay as they are."""
    root = nltk.Tree("", [])
    stack = [root]
    for kind, text, more in tree._steps():
        if kind == "open":
            node = nltk.Tree(text, [])
            stack[-1].append(node)
            stack.append(node)
        elif kind == "token":
            stack[-1].append(nltk.Tree(more, [text]))
        else:
            stack.pop()
    return root[0]


def from_nltk(tree: Any) -> Tree:
    """The tree of an `nltk.Tree`. Every leaf must be the only child of its preterminal."""
    if not isinstance(tree, nltk.Tree):
        raise TypeError(f"a {type(tree).__name__} is no nltk.Tree")
    steps: List[Tuple[str, str, Any]] = []
    todo: List[Any] = [tree]
    while todo:
        node = todo.pop()
        if node is None:
            steps.append(("close", "", None))
        elif not isinstance(node, nltk.Tree):
            raise ValueError(f"the leaf {node!r} has no preterminal of its own: put a tag above it")
        elif len(node) == 1 and not isinstance(node[0], nltk.Tree):
            steps.append(("token", str(node[0]), str(node.label())))
        else:
            steps.append(("open", str(node.label()), None))
            todo.append(None)
            todo.extend(reversed(node))
    return Tree._of_steps(steps)


class SRParser(ParserI):  # type: ignore[misc]
    """A parser with NLTK's interface. Sentences are lists of words or of (word, tag)."""

    def __init__(self, parser: Optional[Parser] = None, threads: int = 1) -> None:
        """Wraps a parser, the embedded one if none is given."""
        self.parser = load() if parser is None else parser
        self.threads = threads

    def parse(self, sent: Iterable[Word]) -> Iterator[Any]:  # type: ignore[override,unused-ignore]
        """The tree of a sentence, as an iterator of one."""
        return iter([to_nltk(self.parser.parse(list(sent)))])

    def parse_sents(self, sents: Iterable[Iterable[Word]]) -> Iterator[Iterator[Any]]:
        """The trees of sentences, each as an iterator of one."""
        sentences = (list(sent) for sent in sents)
        trees = self.parser.parse_batch(sentences, threads=self.threads, stream=True)
        return (iter([to_nltk(tree)]) for tree in trees)

    def raw_parse_sents(self, text: str) -> Iterator[Any]:
        """The trees of the sentences of a text."""
        return map(to_nltk, self.parser.parse_text(text, threads=self.threads))

    def grammar(self) -> Any:
        """There is none: what trees look like is learned."""
        raise NotImplementedError("a shift-reduce parser has no grammar")
