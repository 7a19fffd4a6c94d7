"""What the tests share."""

import os
import shutil
import sys
from pathlib import Path

import pytest

import srparse

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def parser() -> srparse.Parser:
    return srparse.load()


@pytest.fixture(scope="session")
def data() -> Path:
    """The sample data of the repository."""
    return ROOT / "data" / "sample"


@pytest.fixture(scope="session")
def command() -> str:
    """The command that the wheel has installed."""
    found = shutil.which("srparse", path=os.path.dirname(sys.executable))
    assert found, "the wheel installs the command beside the interpreter"
    return found


@pytest.fixture(scope="session")
def sentences(data: Path) -> "list[list[tuple[str, str]]]":
    """The tagged sentences of the sample."""
    return [[tuple(token) for token in tree.tokens] for tree in srparse.read_trees(data / "dev.mrg")]


@pytest.fixture(scope="session")
def small(data: Path) -> srparse.Parser:
    """A parser of the sample, trained in a moment."""
    return srparse.train("fast", train=data / "train.mrg", settings={"epochs": 1})
