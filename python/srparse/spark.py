"""Parsing in Spark: a column of sentences becomes trees, on the executors.

    trees = parse_column(frame, "text", model="my.srm")

Every Python worker loads the parser once. Rows go through Arrow and come back as they were, in their order.
"""

import os
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import EMBEDDED_MODELS, Parser, Tree, load
from ._srparse import _installed_model

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

Tokens = Sequence[Any]

# The tree of a sentence, or why there is none.
Parsed = Tuple[Optional[Tree], Optional[str]]

SPACE = re.compile(r"[ \t\n\v\f\r]+")
TAGGED = re.compile(r"(.+)/(.+)", re.DOTALL)


def parse_column(
    frame: "DataFrame",
    column: str,
    *,
    input: str = "text",
    output: str = "struct",
    model: str = EMBEDDED_MODELS[0],
) -> "DataFrame":
    """The rows of a data frame with the parses of a column.

    `input` says what the column holds: "text" (raw text of any number of sentences, each of which becomes a row),
    "tokens" (one sentence of words between spaces, or an array of words) or "tagged" (one sentence of word/TAG).
    `model` is the name of an embedded model ("english", the default, "english-small" or "english-fast"), or the path of
    a model or the name of an installed one on the driver, from where it is sent to the executors.

    `output` says which columns are added: "brackets" (`tree`), "spans" (`spans`: label, start, end in tokens, children
    before parents) or "struct" (both, `score` and `complete`); always `sentence`, the number of the sentence in its
    row, and `error`. What cannot be read gives null, and `error` says why; the job goes on.

    Raises ValueError when there is no such column or choice, or a column of these names is there already.
    """
    from pyspark.sql.types import StructType

    if column not in frame.columns:
        raise ValueError(f"no column {column!r}: choose one of {', '.join(frame.columns)}")
    reader = READERS.get(input)
    if reader is None:
        raise ValueError(f"input is {input!r}: choose one of {', '.join(READERS)}")
    added = added_fields(output)
    taken = [field.name for field in added if field.name in frame.columns]
    if taken:
        raise ValueError(f"the data frame has {', '.join(taken)} already: rename it first")
    if model not in EMBEDDED_MODELS:
        file = os.fspath(_installed_model(model) or model)
        frame.sparkSession.sparkContext.addFile(file)
        model = os.path.basename(file)
    parse = ColumnParser(column, input, [field.name for field in added], model)
    return frame.mapInArrow(parse, StructType(frame.schema.fields + added))


def added_fields(output: str) -> "List[StructField]":
    """The columns that parsing adds."""
    from pyspark.sql import types as t

    span = t.StructType(
        [
            t.StructField("label", t.StringType()),
            t.StructField("start", t.IntegerType()),
            t.StructField("end", t.IntegerType()),
        ]
    )
    tree = t.StructField("tree", t.StringType())
    spans = t.StructField("spans", t.ArrayType(span))
    score, complete = t.StructField("score", t.DoubleType()), t.StructField("complete", t.BooleanType())
    outputs = {"brackets": [tree], "spans": [spans], "struct": [tree, spans, score, complete]}
    if output not in outputs:
        raise ValueError(f"output is {output!r}: choose one of {', '.join(outputs)}")
    sentence, error = t.StructField("sentence", t.IntegerType()), t.StructField("error", t.StringType())
    return [sentence, *outputs[output], error]


class Sentence(NamedTuple):
    """A sentence of a row, or why there is none."""

    row: int
    number: int
    tokens: Tokens
    error: Optional[str] = None


class ColumnParser:
    """Parses a column of record batches; sent to the executors."""

    def __init__(self, column: str, input: str, added: List[str], model: str) -> None:
        self.column = column
        self.input = input
        self.added = added
        self.model = model

    def __call__(self, batches: "Iterable[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        parser = parser_of(self.model)
        for batch in batches:
            yield self.parsed(batch, parser)

    def parsed(self, batch: "pyarrow.RecordBatch", parser: Parser) -> "pyarrow.RecordBatch":
        """The rows of a batch, as often as they have sentences, with the new columns."""
        import pyarrow

        place = batch.schema.get_field_index(self.column)
        sentences = read(batch.column(place).to_pylist(), self.input, parser)
        parses = list(parse(parser, sentences))
        rows = pyarrow.array([sentence.row for sentence in sentences], pyarrow.int64())
        columns = [batch.column(at).take(rows) for at in range(batch.num_columns)]
        for name in self.added:
            values = column(name, sentences, parses)
            columns.append(pyarrow.array(values, arrow_type(name)))
        return pyarrow.RecordBatch.from_arrays(columns, names=[*batch.schema.names, *self.added])


def column(name: str, sentences: List[Sentence], parses: List[Parsed]) -> List[Any]:
    """The values of a new column."""
    if name == "sentence":
        return [sentence.number for sentence in sentences]
    if name == "error":
        return [error for _, error in parses]
    value = VALUES[name]
    return [None if tree is None else value(tree) for tree, _ in parses]


def arrow_type(name: str) -> "pyarrow.DataType":
    """The type of a new column."""
    import pyarrow as pa

    span = pa.struct([("label", pa.string()), ("start", pa.int32()), ("end", pa.int32())])
    types = {
        "sentence": pa.int32(),
        "tree": pa.string(),
        "spans": pa.list_(span),
        "score": pa.float64(),
        "complete": pa.bool_(),
        "error": pa.string(),
    }
    return types[name]


_PARSERS: Dict[str, Parser] = {}


def parser_of(model: str) -> Parser:
    """The parser of this process for an embedded model or a file that was sent to it."""
    if model not in _PARSERS:
        from pyspark import SparkFiles

        _PARSERS[model] = load(model if model in EMBEDDED_MODELS else SparkFiles.get(model))
    return _PARSERS[model]


def parse(parser: Parser, sentences: List[Sentence]) -> Iterator[Parsed]:
    """The tree of each sentence, or why there is none."""
    good = [sentence.tokens for sentence in sentences if sentence.error is None]
    try:
        trees = iter(parser.parse_batch(good))
    except ValueError:
        # One of them cannot be parsed: the others can.
        for sentence in sentences:
            yield (None, sentence.error) if sentence.error else parse_one(parser, sentence.tokens)
        return
    for sentence in sentences:
        yield (None, sentence.error) if sentence.error else (next(trees), None)


def parse_one(parser: Parser, tokens: Tokens) -> Parsed:
    """The tree of a sentence, or why there is none."""
    try:
        return parser.parse(tokens), None
    except ValueError as error:
        return None, str(error)


def read(values: List[Any], input: str, parser: Parser) -> List[Sentence]:
    """The sentences of a column's values; at least one for each, in order."""
    found: List[Sentence] = []
    for row, value in enumerate(values):
        try:
            sentences = READERS[input](value, parser)
        except ValueError as error:
            found.append(Sentence(row, 0, [], str(error)))
            continue
        found.extend(Sentence(row, number, tokens) for number, tokens in enumerate(sentences))
    return found


def text_sentences(value: Any, parser: Parser) -> List[Tokens]:
    """The sentences of raw text, split by the settings of the model."""
    sentences = parser.split_text(of_type(value, str, "text"))
    return at_least_one([[word for word, _, _ in words] for words in sentences])


def token_sentence(value: Any, _: Parser) -> List[Tokens]:
    """A sentence of words."""
    if isinstance(value, str):
        words = [word for word in SPACE.split(value) if word]
    else:
        words = of_type(value, list, "a sentence, or an array of words")
    if not all(words) or not all(isinstance(word, str) for word in words):
        raise ValueError("a word is empty, null or no text: give words")
    return at_least_one([words] if words else [])


def tagged_sentence(value: Any, _: Parser) -> List[Tokens]:
    """A sentence of word/TAG."""
    tokens = []
    for token in SPACE.split(of_type(value, str, "a sentence of word/TAG")):
        match = TAGGED.fullmatch(token)
        if match:
            tokens.append(match.groups())
        elif token:
            raise ValueError(f"`{token}` has no word or no tag: write word/TAG")
    return at_least_one([tokens] if tokens else [])


def of_type(value: Any, kind: type, wanted: str) -> Any:
    if not isinstance(value, kind):
        shown = "null" if value is None else type(value).__name__
        raise ValueError(f"the value is {shown}: give {wanted}")
    return value


def at_least_one(sentences: List[Tokens]) -> List[Tokens]:
    if not sentences:
        raise ValueError("there are no words")
    return sentences


VALUES: Dict[str, Callable[[Tree], Any]] = {
    "tree": str,
    "spans": Tree.spans,
    "score": lambda tree: tree.score,
    "complete": lambda tree: tree.complete,
}

READERS = {"text": text_sentences, "tokens": token_sentence, "tagged": tagged_sentence}
