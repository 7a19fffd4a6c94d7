"""Parsing: the same trees as the command, whatever the threads."""

import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

import srparse


def run(command, *arguments, text):
    done = subprocess.run(
        [command, *arguments], input=text, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_four_lines_give_the_bytes_of_the_command(command, parser):
    text = "The dog didn't bark. (Dr. Reed's mice can't sing.) They sleep!"
    trees = "".join(f"{tree}\n" for tree in parser.parse_text(text))
    assert trees == run(command, "parse", "--quiet", "--input", "text", text=text)


def test_tagged_sentences_and_words_parse_as_with_the_command(command, parser, sentences):
    lines = [" ".join(word for word, _ in tagged) for tagged in sentences]
    expected = run(command, "parse", "--quiet", "--input", "tokens", text="\n".join(lines) + "\n")
    words = [line.split() for line in lines]
    assert "".join(f"{tree}\n" for tree in parser.parse_batch(words)) == expected
    tagged = "".join(" ".join(f"{w}/{t}" for w, t in tokens) + "\n" for tokens in sentences)
    expected = run(command, "parse", "--quiet", text=tagged)
    assert "".join(f"{tree}\n" for tree in parser.parse_batch(sentences)) == expected


def test_threads_streams_and_single_calls_agree(parser, sentences):
    alone = [str(parser.parse(tokens)) for tokens in sentences]
    for threads in (0, 1, 3):
        assert [str(tree) for tree in parser.parse_batch(sentences, threads=threads)] == alone
    stream = parser.parse_batch(iter(sentences), threads=2, stream=True)
    assert [str(tree) for tree in stream] == alone


def test_an_endless_stream_is_read_a_little_ahead(parser):
    taken = itertools.count()
    endless = (["Dogs", "bark", str(next(taken))] for _ in itertools.repeat(None))
    trees = parser.parse_batch(endless, threads=2, stream=True)
    words = [next(trees).words[-1] for _ in range(100)]
    assert words == [str(n) for n in range(100)]
    assert next(taken) < 100 + 2 * 4 * 16 + 16


def test_sentences_have_three_forms(parser):
    as_text = parser.parse("The cells died.")
    assert as_text == parser.parse(["The", "cells", "died", "."])
    assert as_text == parser.parse([("The", "DT"), ["cells", "NNS"], ("died", "VBD"), "."])
    assert as_text == parser.parse(as_text.tokens)


@pytest.mark.parametrize(
    ("sentence", "kind", "says"),
    [
        ("Dogs bark. Cats sleep.", ValueError, "2 sentences, the second from character 11"),
        (["dogs", ""], ValueError, "token 1 has an empty word"),
        ([1], TypeError, "token 0 is 1"),
        ([("a", "b", "c")], TypeError, "give raw text, a list of words"),
        (7, TypeError, "a int is no sentence"),
    ],
)
def test_what_is_no_sentence_is_refused(parser, sentence, kind, says):
    with pytest.raises(kind, match=says.replace("(", "\\(")):
        parser.parse(sentence)
    with pytest.raises(kind, match="sentence 1: "):
        parser.parse_batch([["fine"], sentence])


def test_a_stream_gives_the_trees_before_an_error(parser):
    trees = parser.parse_batch([["dogs"], ["cats"], 3], stream=True)
    assert [next(trees).words, next(trees).words] == [["dogs"], ["cats"]]
    with pytest.raises(TypeError, match="sentence 2"):
        next(trees)
    assert list(trees) == []


def test_errors_of_the_users_iterator_come_back(parser):
    def broken():
        yield ["dogs"]
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        parser.parse_batch(broken())


def test_an_empty_sentence_has_an_empty_tree(parser):
    tree = parser.parse("")
    assert (tree.words, tree.children) == ([], [])


def test_nbest_trees_differ_and_the_first_is_the_parse(small, parser, sentences):
    trees = parser.parse_nbest(sentences[0], 3)
    assert trees[0] == parser.parse(sentences[0])
    assert len(set(map(str, trees))) == len(trees) == 3


def test_nbest_finds_as_many_trees_as_asked(parser, sentences):
    # The model has a beam of 4 with a threshold.
    for sentence in sentences[:5]:
        assert len(set(map(str, parser.parse_nbest(sentence, 10)))) == 10


def test_a_beam_needs_a_model_with_scores_of_whole_parses():
    with pytest.raises(ValueError, match="search"):
        srparse.load(settings={"search.bean": 4})
    with pytest.raises(ValueError, match="after training, only"):
        srparse.load(settings={"epochs": 4})


def test_progress_counts_to_the_end(parser, sentences, capfd):
    seen = []
    parser.parse_batch(sentences, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(sentences), len(sentences))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    parser.parse_batch(sentences, progress=True)
    assert f"{len(sentences)} of {len(sentences)} sentences" in capfd.readouterr().err
    with pytest.raises(TypeError, match="progress"):
        parser.parse_batch(sentences, progress=3)


def test_files_that_are_no_models_are_refused_with_the_words_of_the_command(tmp_path):
    with pytest.raises(FileNotFoundError, match="check the name and the folder"):
        srparse.load(tmp_path / "none.srm")
    (tmp_path / "text.srm").write_text("hello")
    with pytest.raises(ValueError, match="not an srparse model: give a model file"):
        srparse.load(str(tmp_path / "text.srm"))
    with pytest.raises(ValueError, match="truncated"):
        srparse.load(srparse.load().to_bytes()[:100])
    with pytest.raises(TypeError, match="give the path"):
        srparse.load(3)


def test_parsers_are_pickled_as_their_path_or_bytes(small, parser, sentences, tmp_path, monkeypatch):
    expected = str(small.parse(sentences[0]))
    small.save(tmp_path / "small.srm")
    monkeypatch.chdir(tmp_path)
    of_file = srparse.load("small.srm")
    monkeypatch.chdir("/")
    assert len(pickle.dumps(of_file)) < 1000
    assert len(pickle.dumps(small)) > 10_000
    assert len(pickle.dumps(parser)) < 1000
    for again in (pickle.loads(pickle.dumps(given)) for given in (small, of_file)):
        assert str(again.parse(sentences[0])) == expected
    assert str(srparse.load(small.to_bytes()).parse(sentences[0])) == expected


def test_python_threads_share_a_parser(parser, sentences):
    expected = [str(parser.parse(tokens)) for tokens in sentences]
    results = [None] * 8

    def work(at):
        trees = parser.parse_batch(sentences, threads=2) if at % 2 else map(parser.parse, sentences)
        results[at] = [str(tree) for tree in trees]

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def in_child(work):
    """Runs a function in a forked process; returns whether it was true."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            os._exit(0 if work() else 1)
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_parsing_goes_on_after_a_fork(parser, sentences):
    expected = [str(tree) for tree in parser.parse_batch(sentences, threads=2)]
    begun = parser.parse_batch(iter(sentences * 50), threads=2, stream=True)
    next(begun)

    def work():
        return [str(tree) for tree in parser.parse_batch(sentences, threads=2)] == expected

    def use_begun():
        with pytest.raises(RuntimeError, match="before a fork"):
            list(begun)
        return True

    assert in_child(work)
    assert in_child(use_begun)
    assert len(list(begun)) == 50 * len(sentences) - 1


def test_other_threads_run_while_a_batch_is_parsed(parser, sentences):
    turns = 0
    done = threading.Event()

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    parser.parse_batch(sentences * 100)
    done.set()
    thread.join()
    assert turns > 5


def test_ctrl_c_interrupts_a_batch():
    program = (
        "import itertools, srparse; print('begun', flush=True)\n"
        "srparse.load().parse_batch(itertools.repeat(['Dogs', 'bark', '.']), threads=2)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors


def test_tags_are_those_of_the_models_tagger(parser):
    assert parser.has_tagger and "NN" in parser.tags
    assert parser.tag("The dog barked.")[:2] == [("The", "DT"), ("dog", "NN")]
    assert "kind" in parser.preset


def test_text_is_split_with_the_places_of_its_words():
    first, second = srparse.split_text("Don't (go). She\nstays.")
    assert first[:3] == [("Do", 0, 2), ("n't", 2, 5), ("-LRB-", 6, 7)]
    assert second[0] == ("She", 12, 15)


def test_text_is_split_by_the_settings_of_the_model():
    def words(how):
        parser = srparse.load("english-fast", settings={"text.compounds": how})
        [sentence] = parser.split_text("A well-known rule.")
        return [word for word, _, _ in sentence]

    assert words("split") == ["A", "well", "-", "known", "rule", "."]
    assert words("keep") == ["A", "well-known", "rule", "."]
