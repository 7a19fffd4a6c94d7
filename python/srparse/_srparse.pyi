from os import PathLike
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
    final,
    overload,
)

from ._token import Token

_Path = Union[str, PathLike[str]]
_Sentence = Union[str, Sequence[Union[str, Tuple[str, Optional[str]], List[str]]]]
_Trees = Union[_Path, Iterable[_Path], Iterable[Optional[Tree]]]
_Progress = Union[bool, Callable[[int, Optional[int]], object]]

__all__ = [
    "EMBEDDED_MODELS",
    "Comparison",
    "Parser",
    "Parses",
    "Scores",
    "Tree",
    "__version__",
    "_load",
    "_run",
    "compare",
    "evaluate",
    "load",
    "read_trees",
    "split_text",
    "train",
]
__version__: str
EMBEDDED_MODELS: List[str]

@final
class Tree:
    def __new__(cls, brackets: str) -> Tree: ...
    @property
    def label(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def head(self) -> Optional[int]: ...
    @property
    def children(self) -> List[Union[Tree, Token]]: ...
    @property
    def tokens(self) -> List[Token]: ...
    @property
    def words(self) -> List[str]: ...
    @property
    def score(self) -> Optional[float]: ...
    @property
    def complete(self) -> Optional[bool]: ...
    def spans(self) -> List[Tuple[str, int, int]]: ...
    def heads(self, rules: Optional[str] = None) -> List[int]: ...
    def with_tags(self, tags: Sequence[str]) -> Tree: ...
    def pretty(self) -> str: ...
    def draw(self) -> str: ...
    def svg(self) -> str: ...
    def to_nltk(self) -> Any: ...
    @staticmethod
    def from_nltk(tree: Any) -> Tree: ...
    def _repr_svg_(self) -> str: ...
    def _steps(self) -> List[Tuple[str, str, Any]]: ...
    @staticmethod
    def _of_steps(
        steps: List[Tuple[str, str, Any]],
        score: Optional[float] = None,
        complete: Optional[bool] = None,
    ) -> Tree: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Parses:
    def __iter__(self) -> Iterator[Tree]: ...
    def __next__(self) -> Tree: ...

@final
class Parser:
    def parse(self, sentence: _Sentence) -> Tree: ...
    def parse_nbest(self, sentence: _Sentence, k: int) -> List[Tree]: ...
    def parse_text(self, text: str, threads: int = 1) -> List[Tree]: ...
    @overload
    def parse_batch(
        self,
        sentences: Iterable[_Sentence],
        threads: int = 1,
        *,
        progress: Optional[_Progress] = None,
        stream: Literal[False] = False,
    ) -> List[Tree]: ...
    @overload
    def parse_batch(
        self,
        sentences: Iterable[_Sentence],
        threads: int = 1,
        *,
        progress: Optional[_Progress] = None,
        stream: Literal[True],
    ) -> Parses: ...
    def split_text(self, text: str) -> List[List[Tuple[str, int, int]]]: ...
    def tag(self, sentence: _Sentence) -> List[Token]: ...
    @property
    def has_tagger(self) -> bool: ...
    @property
    def tags(self) -> List[str]: ...
    @property
    def preset(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...

@final
class Scores:
    @property
    def f1(self) -> float: ...
    @property
    def f1_failures_empty(self) -> float: ...
    @property
    def precision(self) -> float: ...
    @property
    def recall(self) -> float: ...
    @property
    def exact(self) -> float: ...
    @property
    def tagging(self) -> float: ...
    @property
    def coverage(self) -> float: ...
    @property
    def crossing(self) -> float: ...
    @property
    def uas(self) -> Optional[float]: ...
    @property
    def sentences(self) -> int: ...
    @property
    def labels(self) -> Dict[str, Dict[str, float]]: ...

@final
class Comparison:
    @property
    def f1(self) -> Tuple[float, float]: ...
    @property
    def difference(self) -> float: ...
    @property
    def p(self) -> float: ...
    @property
    def interval(self) -> Tuple[float, float]: ...
    @property
    def better(self) -> Tuple[int, int]: ...
    @property
    def sentences(self) -> int: ...

def load(
    model: Union[_Path, bytes, None] = None,
    *,
    beam: Optional[int] = None,
    settings: Optional[Mapping[str, object]] = None,
) -> Parser: ...
def _load(model: Union[_Path, bytes, None], settings: List[str]) -> Parser: ...
def train(
    preset: str = "fast",
    *,
    train: _Trees,
    dev: Optional[_Trees] = None,
    settings: Optional[Mapping[str, object]] = None,
    treebank: Optional[str] = None,
    seed: int = 1,
    threads: int = 1,
    checkpoint: Optional[_Path] = None,
    silver: Optional[_Trees] = None,
    silver_share: float = 0.5,
    teachers: Optional[Sequence[Parser]] = None,
    on_event: Optional[Callable[[Dict[str, Any]], object]] = None,
) -> Parser: ...
def evaluate(
    gold: _Trees,
    test: _Trees,
    *,
    params: str = "collins",
    heads: Optional[str] = None,
) -> Scores: ...
def compare(
    gold: _Trees,
    a: _Trees,
    b: _Trees,
    *,
    params: str = "collins",
    label: Optional[str] = None,
    children: Optional[str] = None,
    shuffles: int = 10000,
    seed: int = 1,
) -> Comparison: ...
def read_trees(path: _Path, *, skip_bad: bool = False) -> List[Tree]: ...
def split_text(text: str) -> List[List[Tuple[str, int, int]]]: ...
def _run(arguments: List[str]) -> int: ...
