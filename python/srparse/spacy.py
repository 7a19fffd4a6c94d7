"""A component for spaCy pipelines: constituents of sentences, under the names that users of benepar know.

    nlp = spacy.blank("en")
    nlp.add_pipe("srparse")
    sentence = next(nlp("The dog barked.").sents)
    sentence._.parse_string

A span has `._.labels` (from the top down: a chain of constituents over the same words is one span), `._.parse_string`,
`._.constituents` (itself and what is in it, parents first, single words included), `._.parent` and `._.children`. A
token has the first two and `._.parent`, as the span of that token. A span that is no constituent raises
NonConstituentException. White space around a span does not count.
"""

from bisect import bisect_left
from itertools import islice
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from . import Parser, Tree, load

ROOTS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})

# Start, end and labels of a constituent, parents first.
Row = List[Any]


class NonConstituentException(ValueError):
    """The span is no constituent of its sentence."""


@Language.factory(
    "srparse",
    assigns=["span._.constituents", "span._.parse_string", "span._.labels"],
    default_config={
        "model": None,
        "beam": None,
        "tags": "spacy",
        "set_tags": False,
        "threads": 1,
    },
)
class Constituents:
    """Parses the sentences of documents.

    `model` is the path of a model or the name of an embedded one, by default "english". With `tags="spacy"`, the tags of the
    document are used where it has them; with "model", those of the model's own tagger. With `set_tags`, tokens without a
    tag get as `tag_` the one that they were parsed with, and all tokens do with `tags="model"`. Documents without sentence
    boundaries get those of srparse.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        model: Optional[str],
        beam: Optional[int],
        tags: str,
        set_tags: bool,
        threads: int,
    ) -> None:
        if tags not in ("spacy", "model"):
            raise ValueError(f'srparse: tags is {tags!r}: choose "spacy" or "model"')
        self.parser = load(model, beam=beam)
        self.tags = tags
        self.set_tags = set_tags
        self.threads = threads
        install_extensions()

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parses the sentences of many documents on threads."""
        rest = iter(stream)
        while docs := list(islice(rest, batch_size)):
            sentences = [
                (doc, tokens) for doc in docs for tokens in self.sentences(doc) if tokens
            ]
            trees = self.parser.parse_batch(
                [self.words(tokens) for _, tokens in sentences], threads=self.threads
            )
            for doc in docs:
                doc._.srparse = {"rows": [], "tags": [token.tag_ for token in doc]}
            for (doc, tokens), tree in zip(sentences, trees):
                store(doc, tokens, tree)
                if self.set_tags:
                    for token, (_, tag) in zip(tokens, tree.tokens):
                        token.tag_ = tag
            yield from docs

    def words(self, tokens: List[Token]) -> List[Tuple[str, str]]:
        """Words as in trees, with the tags to use."""
        tagged = self.tags == "spacy"
        return [(token.text.translate(BRACKETS), token.tag_ if tagged else "") for token in tokens]

    def sentences(self, doc: Doc) -> List[List[Token]]:
        """The tokens of each sentence but for white space."""
        if not doc.has_annotation("SENT_START"):
            set_sentences(doc, self.parser)
        return [[token for token in sentence if not token.is_space] for sentence in doc.sents]


def set_sentences(doc: Doc, parser: Parser) -> None:
    """Marks where sentences begin, by the settings of the model for raw text."""
    starts = [words[0][1] for words in parser.split_text(doc.text)]
    begun = 0
    for token in doc:
        is_start = begun < len(starts) and token.idx >= starts[begun]
        while begun < len(starts) and token.idx >= starts[begun]:
            begun += 1
        token.is_sent_start = is_start


def store(doc: Doc, tokens: List[Token], tree: Tree) -> None:
    """Adds a sentence's constituents to those of its document."""
    data = doc._.srparse
    for token, (_, tag) in zip(tokens, tree.tokens):
        data["tags"][token.i] = tag
    for start, end, labels in rows(tree):
        data["rows"].append([tokens[start].i, tokens[end - 1].i + 1, labels])


def rows(tree: Tree) -> List[Row]:
    """The constituents and tokens of a tree; those over the same tokens are one row."""
    found: List[Row] = []
    for start, end, label in walk(tree):
        if not found or found[-1][:2] != [start, end]:
            found.append([start, end, []])
        if label is not None:
            found[-1][2].append(label)
    if found and found[0][2] and found[0][2][0] in ROOTS:
        found[0][2].pop(0)
    return found


def walk(tree: Tree) -> List[Tuple[int, int, Optional[str]]]:
    """The nodes and tokens of a tree, parents first; tokens have no label."""
    found: List[Tuple[int, int, Optional[str]]] = []
    open_nodes: List[int] = []
    at = 0
    for kind, text, _ in tree._steps():
        if kind == "open":
            open_nodes.append(len(found))
            found.append((at, at, text))
        elif kind == "token":
            found.append((at, at + 1, None))
            at += 1
        else:
            node = open_nodes.pop()
            found[node] = (found[node][0], at, found[node][2])
    return found


def install_extensions() -> None:
    """Registers the extensions of documents, spans and tokens, once."""
    if Doc.has_extension("srparse"):
        return
    Doc.set_extension("srparse", default=None)
    getters = {
        "labels": labels,
        "parse_string": parse_string,
        "parent": parent,
        "constituents": constituents,
        "children": children,
    }
    for name, getter in getters.items():
        Span.set_extension(name, getter=getter, force=True)
    for name in ("labels", "parse_string", "parent"):
        Token.set_extension(name, getter=of_token(getters[name]), force=True)


def of_token(getter: Any) -> Any:
    """The getter of the span of a single token."""
    return lambda token: getter(token.doc[token.i : token.i + 1])


def labels(span: Span) -> Tuple[str, ...]:
    """The labels of a constituent from the top down; none for a word."""
    rows, position = find(span)
    return tuple(rows[position][2])


def constituents(span: Span) -> Iterator[Span]:
    """The constituent and all constituents and words in it, parents first."""
    rows, position = find(span)
    return (span.doc[start:end] for start, end, _ in below(rows, position))


def children(span: Span) -> Iterator[Span]:
    """The constituents and words that a constituent consists of."""
    rows, position = find(span)
    reached = rows[position][0]
    for start, end, _ in below(rows, position)[1:]:
        if start >= reached:
            yield span.doc[start:end]
            reached = end


def parent(span: Span) -> Optional[Span]:
    """The smallest constituent around a constituent; None for a sentence."""
    rows, position = find(span)
    start, end, _ = rows[position]
    around = (row for row in reversed(rows[:position]) if row[0] <= start and end <= row[1])
    row = next(around, None)
    return None if row is None else span.doc[row[0] : row[1]]


def parse_string(span: Span) -> str:
    """A constituent in brackets, with the tags that it was parsed with."""
    rows, position = find(span)
    tags = span.doc._.srparse["tags"]
    parts: List[str] = []
    ends: List[Tuple[int, int]] = []
    for start, end, labels in below(rows, position):
        while ends and ends[-1][0] <= start:
            parts.append(")" * ends.pop()[1])
        parts.extend(f" ({label}" for label in labels)
        ends.append((end, len(labels)))
        if end == start + 1:
            word = span.doc[start].text.translate(BRACKETS)
            parts.append(f" ({tags[start]} {word})")
    parts.extend(")" * n for _, n in reversed(ends))
    return "".join(parts).strip()


def below(rows: List[Row], position: int) -> List[Row]:
    """A row and those in it."""
    end = rows[position][1]
    after = position + 1
    while after < len(rows) and rows[after][0] < end:
        after += 1
    return rows[position:after]


def find(span: Span) -> Tuple[List[Row], int]:
    """All rows of the document, and the position of that of a span."""
    data: Optional[Dict[str, Any]] = span.doc._.srparse
    if data is None:
        raise ValueError('the document has no constituents: add nlp.add_pipe("srparse") to the pipeline')
    start, end = span.start, span.end
    while start < end and span.doc[start].is_space:
        start += 1
    while start < end and span.doc[end - 1].is_space:
        end -= 1
    rows: List[Row] = data["rows"]
    position = bisect_left([row[0] for row in rows], start)
    while position < len(rows) and rows[position][0] == start:
        if rows[position][1] == end:
            return rows, position
        position += 1
    raise NonConstituentException(f"no constituent: {span.text!r}")
