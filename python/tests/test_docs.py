"""The Python examples of the documentation, run as doctests, and a notebook."""

import doctest
import re

import nbformat
import pytest
from nbclient import NotebookClient

import srparse
import srparse.nltk
from conftest import ROOT

FLAGS = doctest.ELLIPSIS


def sections(page):
    """The sections of a page that have Python examples, each with its code."""
    text = (ROOT / page).read_text()
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        blocks = re.findall(r"^```python\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
        if blocks:
            yield f"{page}: {section.splitlines()[0]}", "\n".join(blocks)


def run(name, code, globs):
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(parser.get_doctest(code, globs, name, name, 0))
    return runner.summarize(verbose=False)


EXAMPLES = [*sections("README.md"), *sections("docs/python.md")]


def test_there_are_ten_recipes():
    assert sum(name.startswith("docs/python.md: ") for name, _ in EXAMPLES) == 10
    assert any(name.startswith("README.md: ") for name, _ in EXAMPLES)


@pytest.mark.parametrize(("name", "code"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_examples_run(name, code, tmp_path, monkeypatch):
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    assert ">>> " in code
    results = run(name, code, {"__name__": "__main__"})
    assert results.attempted > 0 and results.failed == 0


@pytest.mark.parametrize("module", [srparse, srparse.nltk])
def test_examples_of_modules_run(module):
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0


def test_a_tree_draws_itself_in_a_notebook():
    code = "import srparse\nsrparse.load().parse('The dog barked.')"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert output["data"]["image/svg+xml"].startswith("<svg ")
    assert "barked" in output["data"]["image/svg+xml"]
