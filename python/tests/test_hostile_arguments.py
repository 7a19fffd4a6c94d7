"""Arguments that nobody should give: every entry point raises an ordinary exception, and soon."""

import gc
import os
import random
import signal
import threading
import time
import weakref

import pytest

import srparse


class Promise:
    """Promises more items than it has."""

    def __init__(self, length, items=("a",)):
        self.length, self.items = length, items

    def __len__(self):
        return self.length

    def __iter__(self):
        return iter(self.items)


def raising():
    yield "Dogs bark."
    raise LookupError("the end of the world")


HOSTILE = [
    None,
    0,
    -1,
    1.5,
    10**18,
    object(),
    b"bytes",
    "\ud800 lone",
    ["\udfff"],
    [("a", "\ud800")],
    range(10**10),
    range(10**18),
    range(10**30),
    [range(10**10)],
    [[None]],
    [[("a", "b", "c")]],
    {"a": 1},
    {1: 2},
    Promise(10**12, [3]),
    [""],
    [("", "NN")],
    "a\0b",
    "",
]


def entry_points(parser):
    tree = parser.parse("Dogs bark.")
    return [
        parser.parse,
        parser.parse_text,
        parser.parse_texts,
        lambda value: parser.parse_texts(["a"], value),
        parser.parse_batch,
        lambda value: list(parser.parse_batch(value, stream=True)),
        lambda value: parser.parse_batch(["a"], value),
        lambda value: parser.parse_batch(["a"], progress=value),
        lambda value: parser.parse_nbest(value, 2),
        lambda value: parser.parse_nbest("Dogs bark.", value),
        parser.split_text,
        parser.tag,
        parser.save,
        srparse.split_text,
        srparse.Tree,
        srparse.Tree._of_steps,
        srparse.Tree.from_nltk,
        srparse.load,
        lambda value: srparse.load(beam=value),
        lambda value: srparse.load(settings=value),
        srparse.read_trees,
        lambda value: srparse.read_trees("x", treebank=value),
        lambda value: srparse.evaluate(value, [tree]),
        lambda value: srparse.evaluate([tree], [tree], heads=value),
        lambda value: srparse.compare([tree], [tree], value),
        lambda value: srparse.compare([tree], [tree], [tree], label=value, shuffles=10),
        lambda value: srparse.compare([tree], [tree], [tree], shuffles=value),
        lambda value: srparse.train(train=value),
        lambda value: srparse.train(train=[tree], settings=value),
        lambda value: srparse.train(train=[tree], settings={"epochs": 1}, threads=value),
        tree.heads,
        tree.with_tags,
        tree.subtrees,
        lambda value: tree[value],
    ]


@pytest.mark.parametrize("sentence", ["Dogs bark.", b"Dogs bark."])
def test_one_sentence_is_no_batch(parser, sentence):
    with pytest.raises(TypeError, match="one sentence: give a list"):
        parser.parse_batch(sentence)
    with pytest.raises(TypeError):
        parser.parse_texts(sentence)


@pytest.mark.parametrize("value", [b"Dogs bark.", {"Dogs", "bark"}, frozenset("ab"), {"Dogs": "NNS"}])
def test_bytes_and_collections_without_order_are_no_sentence(parser, value):
    with pytest.raises(TypeError, match="is no sentence: give raw text"):
        parser.parse(value)


@pytest.mark.parametrize("shuffles", [0, 10**9 + 1, 2**64 - 1])
def test_shuffles_have_the_limits_of_the_command(parser, shuffles):
    tree = parser.parse("Dogs bark.")
    with pytest.raises(ValueError, match="give 1 to 1000000000"):
        srparse.compare([tree], [tree], [tree], shuffles=shuffles)


@pytest.mark.filterwarnings("ignore")
def test_every_entry_point_refuses_or_answers(parser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, call in enumerate(entry_points(parser)):
        for value in HOSTILE:
            try:
                call(value)
            except Exception:
                continue
            except BaseException as error:
                pytest.fail(f"entry point {number} of {value!r}: {type(error).__name__}: {error}")


def test_random_arguments_raise_ordinary_exceptions(parser):
    choices = random.Random(1)

    def value(depth=0):
        kind = choices.randrange(8 if depth < 3 else 5)
        if kind == 0:
            return choices.choice([None, True, 7, -3, 2.5, 10**20])
        if kind < 5:
            return "".join(chr(choices.choice([0, 10, 32, 40, 41, 97, 233, 0xD800, 0x1F600])) for _ in range(5))
        items = [value(depth + 1) for _ in range(choices.randrange(4))]
        return tuple(items) if kind == 5 else items

    for _ in range(200):
        for call in (parser.parse, parser.tag, parser.parse_batch, srparse.Tree, srparse.evaluate):
            arguments = (value(), value()) if call is srparse.evaluate else (value(),)
            try:
                call(*arguments)
            except Exception:
                pass


def test_items_are_looked_at_before_their_number():
    parser = srparse.load("english-fast")
    for call in (parser.parse, parser.tag):
        for length in (10**10, 10**18):
            with pytest.raises(TypeError, match="token 0 is 0"):
                call(range(length))
    for length in (10**12, 10**18):
        with pytest.raises(TypeError, match="sentence 0: a int is no sentence"):
            parser.parse_batch(range(length))
    assert len(parser.parse_batch(Promise(10**15, ["Dogs bark."]))) == 1
    with pytest.raises(LookupError, match="end of the world"):
        parser.parse_batch(raising())
    with pytest.raises(ValueError, match="at most 1024"):
        parser.parse_batch(["a"], 10**9)


def test_parses_in_a_cycle_are_collected(parser):
    before = threading.active_count()

    class Sentences:
        def __iter__(self):
            return self

        def __next__(self):
            return "Dogs bark."

    dead = []
    for _ in range(20):
        sentences = Sentences()
        sentences.parses = parser.parse_batch(sentences, threads=2, stream=True)
        next(sentences.parses)
        dead.append(weakref.ref(sentences))
        del sentences
    gc.collect()
    assert [reference() for reference in dead] == [None] * 20
    assert threading.active_count() == before


@pytest.mark.parametrize("kind", ["split", "tree", "parse"])
def test_long_work_on_one_text_is_interrupted(kind):
    parser = srparse.load("english-fast")
    work = {
        "split": lambda: srparse.split_text("Dogs bark. " * 4_000_000),
        "tree": lambda: srparse.Tree("(S " + "(NP (N dogs)) " * 4_000_000 + ")"),
        "parse": lambda: parser.parse(["dogs"] * 2_000_000),
    }[kind]
    ticks = []
    is_over = threading.Event()

    def tick():
        while not is_over.wait(0.01):
            ticks.append(time.monotonic())
            if len(ticks) == 20:
                os.kill(os.getpid(), signal.SIGINT)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
            # The work was over before the signal.
            while True:
                time.sleep(0.01)
    finally:
        is_over.set()
        ticker.join()
    assert len(ticks) >= 20, "other threads run meanwhile"
