"""Spark: the trees of the command, keys and order kept, and nothing lost with an executor."""

import os
import re
import signal
import sys
import threading
import time

import pytest

import srparse
from conftest import ROOT
from srparse.spark import parse_column, read

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

WORDS = ["dogs", "cats", "mice", "bakers", "judges", "the", "old", "see", "like", "hear"]
N_SENTENCES = int(os.environ.get("SRPARSE_SPARK_SENTENCES", 20_000))
N_PARTITIONS = 24


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.executor.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def sentence(number):
    """An invented sentence, different for each number."""
    words = [WORDS[number // 10**digit % 10] for digit in range(6)]
    return f"The {' '.join(words)} {number} times."


def expected(parser, texts):
    words = [[word for word, _, _ in words] for text in texts for words in srparse.split_text(text)]
    return [str(tree) for tree in parser.parse_batch(words, threads=2)]


def executors(application):
    """The processes of the executors of an application."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                line = file.read().split(b"\0")
        except OSError:
            continue
        if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in line:
            if application.encode() in line:
                yield int(process)


def kill_one_in_the_middle(context, killed):
    """Ends an executor once some partitions are done."""
    tracker = context.statusTracker()
    while not killed:
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info and 4 <= info.numCompletedTasks < N_PARTITIONS // 2:
                process = next(executors(context.applicationId))
                os.kill(process, signal.SIGKILL)
                killed.append(process)
                return
        time.sleep(0.02)


def test_a_killed_executor_loses_and_doubles_nothing(spark):
    model = "english-small"
    texts = [sentence(number) for number in range(N_SENTENCES)]
    rows = spark.sparkContext.parallelize(list(enumerate(texts)), N_PARTITIONS)
    frame = spark.createDataFrame(rows, "key long, text string")
    assert frame.rdd.getNumPartitions() == N_PARTITIONS
    killed = []
    killer = threading.Thread(target=kill_one_in_the_middle, args=(spark.sparkContext, killed))
    killer.start()
    parsed = parse_column(frame, "text", output="brackets", model=model).collect()
    killer.join(timeout=60)
    assert killed
    assert [row.key for row in parsed] == list(range(N_SENTENCES))
    assert {row.sentence for row in parsed} == {0} and {row.error for row in parsed} == {None}
    assert [row.tree for row in parsed] == expected(srparse.load(model), texts)


def test_the_plain_command_gives_the_same_through_a_pipe(spark, parser, command):
    texts = [sentence(number) for number in range(2000)]
    lines = spark.sparkContext.parallelize(texts, 8)
    pipe = f"{command} parse --quiet --skip-bad --input lines"
    trees = lines.zip(lines.pipe(pipe, checkCode=True)).collect()
    assert [line for line, _ in trees] == texts
    assert [tree for _, tree in trees] == expected(parser, texts)


def test_a_struct_has_spans_score_and_completeness(spark, parser):
    frame = spark.createDataFrame([(7, "Dogs bark. Cats sleep."), (2**60 + 1, "Mice sing.")], "key long, text string")
    first, second, third = parse_column(frame, "text").collect()
    assert [(row.key, row.sentence) for row in (first, second, third)] == [(7, 0), (7, 1), (2**60 + 1, 0)]
    tree = parser.parse("Cats sleep.")
    assert (second.tree, second.score, second.complete) == (str(tree), tree.score, tree.complete)
    assert [tuple(span) for span in second.spans] == tree.spans()


def test_unreadable_rows_give_null_and_a_message(spark):
    rows = [("Dogs/NNS bark/VBP",), (None,), ("Dogs",), ("",), ("and\\/or/CC a/b/NN",)]
    frame = spark.createDataFrame(rows, "text string")
    good, null, untagged, blank, slashes = parse_column(frame, "text", input="tagged").collect()
    assert good.error is None and "(NNS Dogs)" in good.tree
    assert (null.tree, untagged.tree, blank.tree) == (None, None, None)
    assert null.error == "the value is null: give a sentence of word/TAG"
    assert untagged.error == "`Dogs` has no word or no tag: write word/TAG"
    assert blank.error == "there are no words"
    assert "(CC and\\/or)" in slashes.tree and "(NN a/b)" in slashes.tree


@pytest.mark.parametrize("is_installed", [False, True])
def test_models_are_shipped_and_keep_their_errors(spark, data, tmp_path, monkeypatch, is_installed):
    name = f"untagged-{is_installed}"
    model = tmp_path / f"{name}.srm"
    settings = {"epochs": 1, "tagger.kind": "none"}
    untagged = srparse.train("fast", train=data / "train.mrg", settings=settings)
    untagged.save(model)
    if is_installed:
        monkeypatch.setenv("SRPARSE_MODELS", str(tmp_path))
    model = name if is_installed else str(model)
    frame = spark.createDataFrame([(["Dogs", "bark"],), (["Dogs", ""],)], "words array<string>")
    rows = parse_column(frame, "words", input="tokens", output="spans", model=model).collect()
    assert [row.spans for row in rows] == [None, None]
    assert "no tagger" in rows[0].error and "a word is empty" in rows[1].error


def test_training_jobs_of_the_documentation_run(spark, tmp_path, monkeypatch):
    page = (ROOT / "docs" / "python.md").read_text().split("### Training on several machines")[1]
    code = re.findall(r"^```py\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert len(code) == 1
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    names = {"sc": spark.sparkContext}
    exec("\n".join(code), names)
    assert srparse.load("best.srm").parse("Dogs bark.").words == ["Dogs", "bark", "."]
    assert sum(map(len, names["folds"])) == len(names["trees"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"column": "txet"}, "no column 'txet': choose one of text"),
        ({"column": "text", "input": "conllu"}, "choose one of text, tokens, tagged"),
        ({"column": "text", "output": "xml"}, "choose one of brackets, spans, struct"),
        ({"column": "error"}, "has error already"),
    ],
)
def test_what_cannot_be_parsed_is_refused_at_once(spark, arguments, says):
    names = "error string" if arguments["column"] == "error" else "text string"
    with pytest.raises(ValueError, match=says):
        parse_column(spark.createDataFrame([("a",)], names), **arguments)


def test_words_are_split_at_ascii_white_space_only(parser):
    (only,) = read(["10\u00a0km \t away\n"], "tokens", parser)
    assert only.tokens == ["10\u00a0km", "away"]


def test_the_last_slash_separates_word_and_tag(parser):
    (only,) = read(["and\\/or/CC 1\\/2"], "tagged", parser)
    assert only.tokens == [("and\\/or", "CC"), ("1\\", "2")]


def test_text_is_split_by_the_settings_of_the_model():
    parser = srparse.load("english-fast", settings={"text.compounds": "split"})
    (only,) = read(["A well-known rule."], "text", parser)
    assert only.tokens == ["A", "well", "-", "known", "rule", "."]
