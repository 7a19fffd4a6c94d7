"""Training and evaluation: the same models and figures as the command."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import srparse
from test_parsing import in_child


def test_training_gives_the_model_of_the_command(command, data, small, tmp_path):
    model = tmp_path / "m.srm"
    subprocess.run(
        [command, "train", "--quiet", "--set", "epochs=1", "--model", model, "--train", data / "train.mrg"],
        check=True,
    )
    assert model.read_bytes() == small.to_bytes()
    small.save(tmp_path / "saved.srm")
    assert (tmp_path / "saved.srm").read_bytes() == model.read_bytes()


def test_networks_learn_from_other_parsers(data):
    small = {"learner.epochs": 1, "hidden_dim": 8, "lstm_dim": 8, "ngram_rows": 16}

    def train(**others):
        return srparse.train("accurate", train=data / "train.mrg", settings=small, **others)

    teacher = train(seed=7)
    silver = [teacher.parse(tree.words) for tree in srparse.read_trees(data / "dev.mrg")]
    models = [train(), train(teachers=[teacher]), train(silver=silver), train(silver=silver, silver_share=1)]
    assert len({model.to_bytes() for model in models}) == 4
    with pytest.raises(ValueError, match="only networks"):
        srparse.train("fast", train=data / "train.mrg", teachers=[teacher])
    with pytest.raises(ValueError, match="silver_share"):
        train(silver=silver, silver_share=2)


def test_training_continues_from_a_parser(command, data, small, tmp_path):
    small.save(tmp_path / "old.srm")
    more = srparse.train(init=small, train=data / "dev.mrg", settings={"learner.epochs": 1})
    subprocess.run(
        [command, "train", "--quiet", "--init", tmp_path / "old.srm", "--set", "learner.epochs=1"]
        + ["--train", data / "dev.mrg", "--model", tmp_path / "new.srm"],
        check=True,
    )
    assert more.to_bytes() == (tmp_path / "new.srm").read_bytes() != small.to_bytes()
    with pytest.raises(ValueError, match="learner.kind"):
        srparse.train("accurate", init=small, train=data / "dev.mrg")


def test_events_tell_what_happens(data):
    events = []
    srparse.train(
        "fast",
        train=srparse.read_trees(data / "train.mrg"),
        dev=[data / "dev.mrg"],
        settings={"epochs": 2},
        threads=2,
        on_event=events.append,
    )
    epochs = [event for event in events if event["kind"] == "epoch"]
    models = [(event["model"], event["epoch"]) for event in epochs]
    assert sorted(models) == [(model, epoch) for model in (1, 2, 3) for epoch in (1, 2)]
    assert all(0 < event["accuracy"] <= 100 for event in epochs)
    assert {event["kind"] for event in events} >= {"milestone", "progress", "step"}
    assert any(event.get("text", "").startswith("dev F1 ") for event in events)


def test_training_stops_when_the_callback_says_so(data):
    seen = []

    def stop(event):
        seen.append(event)
        return not (event["kind"] == "epoch")

    parser = srparse.train("fast", train=data / "train.mrg", settings={"epochs": 500}, on_event=stop)
    assert 1 <= sum(event["kind"] == "epoch" for event in seen) < 500
    assert parser.parse("Dogs bark.").words == ["Dogs", "bark", "."]


def test_an_exception_of_the_callback_ends_training(data):
    def fail(event):
        raise LookupError(event["kind"])

    with pytest.raises(LookupError):
        srparse.train("fast", train=data / "train.mrg", settings={"epochs": 500}, on_event=fail)


def test_ctrl_c_interrupts_training(data):
    program = (
        "import sys, srparse\nbegun = lambda event: print('begun', flush=True)\n"
        "srparse.train('fast', train=sys.argv[1], settings={'epochs': 100000}, on_event=begun)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, data / "train.mrg"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_training_and_comparing_go_on_after_a_fork(data, small):
    gold = srparse.read_trees(data / "dev.mrg")
    srparse.compare(gold, gold, gold, shuffles=10)
    srparse.read_trees(data / "dev.mrg", treebank="gum")

    def work():
        again = srparse.train("fast", train=data / "train.mrg", settings={"epochs": 1}, threads=2)
        srparse.compare(gold, gold, gold, shuffles=10)
        srparse.read_trees(data / "dev.mrg", treebank="gum")
        return again.to_bytes() == small.to_bytes()

    assert in_child(work)


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"preset": "fats"}, ValueError, "did you mean `fast`"),
        ({"settings": {"epoks": 1}}, ValueError, "epoks"),
        ({"treebank": "keyako"}, ValueError, "did you mean `keyaki`"),
        ({"train": "none.mrg"}, OSError, "none.mrg"),
        ({"train": []}, ValueError, "there are no tagged words"),
        ({"train": [3]}, TypeError, "neither a tree nor a path"),
        ({"preset": "tagger"}, ValueError, "a tagger alone"),
    ],
)
def test_what_cannot_be_trained_is_refused_at_once(data, arguments, kind, says):
    with pytest.raises(kind, match=says):
        srparse.train(**{"train": data / "train.mrg", **arguments})


def test_scores_are_those_of_the_command(command, data, small, tmp_path):
    gold = srparse.read_trees(data / "dev.mrg")
    test = small.parse_batch([tree.tokens for tree in gold])
    (tmp_path / "test.mrg").write_text("".join(f"{tree}\n" for tree in test))
    arguments = [command, "eval", "--json", data / "dev.mrg", tmp_path / "test.mrg"]
    expected = json.loads(subprocess.run(arguments, capture_output=True, check=True).stdout)
    for scores in (
        srparse.evaluate(gold, test),
        srparse.evaluate(data / "dev.mrg", tmp_path / "test.mrg"),
    ):
        assert 50 < scores.f1 < 100
        found = {"f1": scores.f1, "precision": scores.precision, "recall": scores.recall}
        text = json.dumps(expected)
        for value in found.values():
            assert f"{value:.2f}" in text
    assert f"f1={scores.f1:.2f}" in repr(scores)
    assert set(scores.labels["NP"]) == {"precision", "recall", "f1", "gold", "test"}


def test_a_missing_parse_counts_as_empty():
    gold = [srparse.Tree("(TOP (NP (DT a) (NN dog)))")] * 2
    scores = srparse.evaluate(gold, [gold[0], None], heads="collins")
    assert (scores.f1, scores.coverage, scores.sentences) == (100.0, 50.0, 2)
    assert scores.f1_failures_empty < 100 and scores.uas is not None
    with pytest.raises(ValueError, match="1 test trees, 2 gold trees"):
        srparse.evaluate(gold, gold[:1])
    with pytest.raises(ValueError, match="choose one of"):
        srparse.evaluate(gold, gold, params="colins")


def test_comparisons_are_symmetric_and_reproducible(data, small, parser):
    gold = srparse.read_trees(data / "dev.mrg")
    tokens = [tree.tokens for tree in gold]
    a, b = small.parse_batch(tokens), parser.parse_batch(tokens)
    found = srparse.compare(gold, a, b, shuffles=200)
    assert found.f1 == (srparse.evaluate(gold, a).f1, srparse.evaluate(gold, b).f1)
    assert found.difference == pytest.approx(found.f1[1] - found.f1[0])
    assert repr(found) == repr(srparse.compare(gold, a, b, shuffles=200))
    back = srparse.compare(gold, b, a, shuffles=200)
    assert back.better == found.better[::-1] and back.interval[0] <= back.difference <= back.interval[1]
    with pytest.raises(ValueError, match="trees of A"):
        srparse.compare(gold, a[:1], b)


def test_comparisons_by_label_and_children(data, small, parser):
    gold = srparse.read_trees(data / "dev.mrg")
    tokens = [tree.tokens for tree in gold]
    a, b = small.parse_batch(tokens), parser.parse_batch(tokens)
    nouns = srparse.compare(gold, a, b, label="NP", shuffles=200)
    labels = [srparse.evaluate(gold, side).labels["NP"]["f1"] for side in (a, b)]
    assert nouns.f1 == tuple(labels)
    large = srparse.compare(gold, a, b, children="6+", shuffles=200)
    assert large.sentences == len(gold) and large.f1 != nouns.f1
    with pytest.raises(ValueError, match="case-sensitive"):
        srparse.compare(gold, a, b, label="np")
    with pytest.raises(ValueError, match="must be one of 1, 2"):
        srparse.compare(gold, a, b, children="7")
