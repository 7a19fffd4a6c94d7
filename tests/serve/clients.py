"""Clients of CoreNLP's server against `srparse serve`, unchanged. Environment: SRPARSE, the program.

Needs requirements.txt and `pip install --no-deps stanza==1.15.0`; with `npm ci` in this folder, the JavaScript client is run too, which `--require-js` insists on.
"""

import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import types
import urllib.request
from pathlib import Path

from nltk.parse.corenlp import CoreNLPDependencyParser, CoreNLPParser
from nltk.tree import Tree
from pycorenlp import StanfordCoreNLP

# `import stanza` needs PyTorch, its client of the server does not: the folder of the package without its `__init__`.
stanza = types.ModuleType("stanza")
stanza.__path__ = importlib.util.find_spec("stanza").submodule_search_locations
sys.modules["stanza"] = stanza
from stanza.server import AnnotationException, CoreNLPClient, StartServer  # noqa: E402

HERE = Path(__file__).resolve().parent
PROGRAM = os.environ.get("SRPARSE", str(HERE.parents[1] / "target/release/srparse"))
SING = "(ROOT (S (NP (PRP We)) (VP (VBP sing)) (. .)))"


def flat(tree: Tree) -> str:
    return tree.pformat(margin=10_000)


def nltk_constituents(url: str) -> None:
    parser = CoreNLPParser(url=url)
    (tree,) = parser.raw_parse("We sing.")
    assert flat(tree) == SING, tree
    trees = [next(trees) for trees in parser.raw_parse_sents(["We sing.", "We sing. You dance."])]
    assert len(trees) == 2 and flat(trees[0]) == SING, trees
    assert trees[1].leaves() == ["We", "sing", ".", "You", "dance", "."], trees[1]
    (tree,) = parser.parse("We sing .".split())
    assert flat(tree) == SING, tree
    found = list(parser.parse_sents([["Dogs", "bark", "."], ["We", "sing", "."]]))
    assert len(found) == 2
    found = list(parser.parse_text("Dogs bark. We sing (well).\nYes."))
    assert [len(tree.leaves()) for tree in found] == [3, 6, 2], found
    assert found[1].leaves()[2] == "-LRB-", found[1]
    text = "Good muffins cost $3.88\nin New York (today).  Don't they?"
    words = ["Good", "muffins", "cost", "$", "3.88", "in", "New", "York", "(", "today", ")", ".", "Do", "n't", "they", "?"]
    assert list(parser.tokenize(text)) == words, list(parser.tokenize(text))
    tagger = CoreNLPParser(url=url, tagtype="pos")
    assert tagger.tag("We sing .".split()) == [("We", "PRP"), ("sing", "VBP"), (".", ".")]
    assert [len(s) for s in tagger.tag_sents([["Dogs", "bark", "."], ["Dr.", "No", "!", "?"]])] == [3, 4]


def nltk_dependencies(url: str) -> None:
    parser = CoreNLPDependencyParser(url=url)
    (graph,) = parser.raw_parse("We saw the old dog.")
    heads = [int(line.split("\t")[2]) for line in graph.to_conll(4).splitlines()]
    assert heads == [2, 0, 5, 5, 2, 2], heads
    assert graph.root["word"] == "saw", graph.root
    (graph,) = parser.parse("We sing .".split())
    assert [triple[1] for triple in graph.triples()] == ["dep", "dep"], list(graph.triples())
    assert len(list(parser.parse_text("Dogs bark. We sing."))) == 2


def pycorenlp_annotates(url: str) -> None:
    client = StanfordCoreNLP(url)
    text = "It's 50% off + free. 😀 Dogs bark."
    reply = client.annotate(text, {"annotators": "tokenize,ssplit,pos,depparse,parse", "outputFormat": "json"})
    # The client hands out the text of the reply with Python 3.9 and later.
    reply = json.loads(reply) if isinstance(reply, str) else reply
    tokens = [token for sentence in reply["sentences"] for token in sentence["tokens"]]
    units = text.encode("utf-16-le")
    for token in tokens:
        begin, end = token["characterOffsetBegin"], token["characterOffsetEnd"]
        assert units[2 * begin : 2 * end].decode("utf-16-le") == token["originalText"], token
    whole = "".join(token["before"] + token["originalText"] for token in tokens) + tokens[-1]["after"]
    assert whole == text, whole
    for sentence in reply["sentences"]:
        assert sorted(d["dependent"] for d in sentence["basicDependencies"]) == [t["index"] for t in sentence["tokens"]]
        assert Tree.fromstring(sentence["parse"]).label() == "ROOT"
    assert client.annotate("a", {"outputFormat": "xml"}).startswith("the output format xml"), "refused with a sentence"
    assert "not searched here" in client.tokensregex("a", "a", False)


def stanza_annotates_and_searches(url: str) -> None:
    for start_server in [StartServer.DONT_START, False]:
        with CoreNLPClient(start_server=start_server, endpoint=url, output_format="json") as client:
            (sentence,) = client.annotate("We sing.")["sentences"]
            assert flat(Tree.fromstring(sentence["parse"])) == SING, sentence
            if start_server is False:
                # The client then asks with `ping` whether the server is alive.
                assert client.is_alive()
            found = client.tregex("We sing. We saw the old dog.", "NP=phrase < DT")
            (match,) = [match for sentence in found["sentences"] for match in sentence.values()]
            expected = {"characterOffsetBegin": 16, "codepointOffsetBegin": 16, "characterOffsetEnd": 27, "codepointOffsetEnd": 27,
                        "match": "(NP (DT the) (JJ old) (NN dog))\n", "spanString": "the old dog"}
            assert match == {"sentIndex": 1, **expected, "namedNodes": [{"phrase": expected}]}, match
            for pattern, problem in [("NP < DT VP", "pattern:1:9:"), ("", "a pattern is missing")]:
                try:
                    client.tregex("We sing.", pattern)
                except AnnotationException as error:
                    assert problem in str(error), error
                else:
                    raise AssertionError(f"{pattern!r} was searched")
    client = CoreNLPClient(start_server=StartServer.DONT_START, endpoint=url, annotators="tokenize,ssplit,pos,lemma", output_format="json")
    found = client.tregex("We sing.", "ROOT")
    assert Tree.fromstring(found["sentences"][0]["0"]["match"]).leaves() == ["We", "sing", "."], found
    try:
        client.annotate("We sing.", output_format="text")
    except AnnotationException as error:
        assert "the output format text is not written here" in str(error), error


def the_documentation_runs(url: str) -> None:
    for page in ["serve.md", "find.md"]:
        for block in (HERE.parents[1] / "docs" / page).read_text().split("```python\n")[1:]:
            code = block.split("```")[0].replace("http://localhost:9000", url)
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(code, page, "exec"), {})
            assert "NNS Dogs" in printed.getvalue(), printed.getvalue()


def javascript(url: str) -> None:
    subprocess.run(["node", "clients.js", url], cwd=HERE, check=True)


def start(*arguments: str) -> tuple[subprocess.Popen, str]:
    command = [PROGRAM, "serve", "--listen", "127.0.0.1:0", *arguments]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    line = server.stderr.readline()
    return server, re.search(r"http://\S+", line)[0]


def main() -> None:
    has_js = (HERE / "node_modules/corenlp").exists()
    if not has_js and "--require-js" in sys.argv:
        sys.exit("npm ci has not been run in tests/serve")
    server, url = start("--model", "english-fast")
    try:
        with urllib.request.urlopen(f"{url}/ready") as reply:
            assert reply.read() == b"ready\n"
        checks = [nltk_constituents, nltk_dependencies, pycorenlp_annotates, stanza_annotates_and_searches, the_documentation_runs]
        checks += [javascript] * has_js
        for check in checks:
            check(url)
            print(f"{check.__name__}: ok")
    finally:
        server.terminate()
        _, log = server.communicate(timeout=60)
    assert server.returncode == 0, log


if __name__ == "__main__":
    main()
