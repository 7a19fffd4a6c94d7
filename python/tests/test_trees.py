"""Trees: reading, looking inside, drawing, pickling, NLTK."""

import pickle

import nltk
import pytest

import srparse
from srparse.nltk import SRParser

TEXT = "(TOP (S (NP (DT the) (NN dog)) (VP (VBD barked) (NP (-NONE- *T*-1))) (. .)))"


@pytest.fixture
def tree():
    return srparse.Tree(TEXT)


def test_a_tree_is_looked_into(tree):
    (s,) = tree.children
    np, vp, stop = s.children
    assert (tree.label, s.label, np.label, stop) == ("TOP", "S", "NP", srparse.Token(".", "."))
    assert (vp.start, vp.end, vp.words) == (2, 4, ["barked", "*T*-1"])
    assert [child.tag for child in np.children] == ["DT", "NN"]
    assert (tree.score, tree.complete, np.head) == (None, None, None)


def test_spans_of_a_constituent_are_those_in_it(tree):
    assert tree.spans()[:3] == [("NP", 0, 2), ("NP", 3, 4), ("VP", 2, 4)]
    assert tree.spans()[-1] == ("TOP", 0, 5)
    assert tree.children[0].children[1].spans() == [("NP", 3, 4), ("VP", 2, 4)]


def test_heads_come_from_the_parser_or_from_rules(tree, parser):
    assert tree.heads("collins") == [2, 3, 0, 3, 3]
    parsed = parser.parse("The cells died.")
    assert (parsed.heads(), parsed.complete) == ([2, 3, 0, 3], True)
    assert isinstance(parsed.score, float)
    with pytest.raises(ValueError, match="did you mean `collins`"):
        tree.heads("colins")


def test_trees_are_searched(tree):
    found = tree.find("NP=np < (NN|NNS=noun < __=word)")
    assert [(one.label, one.start, one.end) for one in found] == [("NP", 0, 2)]
    assert found[0].tree == tree.children[0].children[0] == found[0].nodes["np"].tree
    word = found[0].nodes["word"]
    assert (word.label, word.start, word.end, word.tree) == ("dog", 1, 2, None)
    assert repr(found[0]) == 'Match("NP", 0, 2)'
    vp = tree.children[0].children[1]
    assert [(one.start, str(one.tree)) for one in vp.find("NP")] == [(3, "(NP (-NONE- *T*-1))")]
    assert len(tree.find("S << NP")) == 2 and len(tree.find("S << NP", once=True)) == 1
    assert tree.find("S <# VP", heads="collins")[0].label == "S"
    with pytest.raises(ValueError, match="pattern:1:6: "):
        tree.find("NP < ")


def test_trees_print_themselves(tree):
    np = tree.children[0].children[0]
    assert (str(tree), str(np)) == (TEXT, "(NP (DT the) (NN dog))")
    assert repr(np) == "Tree('(NP (DT the) (NN dog))')"
    assert tree.pretty().splitlines()[:2] == ["(TOP", "  (S"]
    assert np.draw() == "NP\n├─ DT  the\n└─ NN  dog\n"
    assert np.svg() == np._repr_svg_() and np.svg().startswith("<svg ")


def test_equal_trees_are_equal_wherever_they_stand(tree):
    np = tree.children[0].children[0]
    assert np == srparse.Tree("(NP (DT the) (NN dog))") and tree == srparse.Tree(TEXT)
    assert hash(np) == hash(srparse.Tree(str(np)))
    for other in ("(NP (DT the) (NN cat))", "(NP (NP (DT the)) (NN dog))", "(X (DT the) (NN dog))"):
        assert np != srparse.Tree(other)
    assert tree != TEXT


def test_tags_can_be_replaced(tree):
    np = tree.children[0].children[0]
    assert str(np.with_tags(["X", "Y"])) == "(NP (X the) (Y dog))"
    assert str(np) == "(NP (DT the) (NN dog))"
    with pytest.raises(ValueError, match="1 tags for 2 tokens"):
        np.with_tags(["X"])


def test_malformed_brackets_are_placed():
    for text, says in [("(S (NP", "<text>:1"), ("", "no tree"), ("(A (B b)) (A (B b))", "second")]:
        with pytest.raises(ValueError, match=says):
            srparse.Tree(text)


def test_pickled_trees_keep_everything(parser):
    tree = parser.parse(["(", "a b", ")"])
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree and again.words == ["(", "a b", ")"]
    assert (again.score, again.complete, again.heads()) == (tree.score, True, tree.heads())
    inner = pickle.loads(pickle.dumps(tree.children[0]))
    assert inner == tree.children[0]


def test_damaged_pickles_are_refused():
    with pytest.raises(ValueError, match="walk"):
        srparse.Tree._of_steps([("close", "", None)])
    with pytest.raises(ValueError, match="walk"):
        srparse.Tree._of_steps([("open", "S", None)])


def test_nltk_trees_go_both_ways(tree):
    theirs = tree.to_nltk()
    assert theirs == nltk.Tree.fromstring(TEXT)
    assert srparse.Tree.from_nltk(theirs) == tree


def test_escaped_brackets_and_traces_stay_as_they_are():
    text = "(S (-LRB- -LRB-) (NP-SBJ-1 (-NONE- *PRO*)) (-RRB- -RRB-))"
    theirs = nltk.Tree.fromstring(text)
    assert srparse.Tree.from_nltk(theirs).to_nltk() == theirs
    assert str(srparse.Tree.from_nltk(theirs)) == text


def test_nltk_trees_without_preterminals_are_refused():
    with pytest.raises(ValueError, match="'b' has no preterminal"):
        srparse.Tree.from_nltk(nltk.Tree("S", [nltk.Tree("A", ["a"]), "b"]))
    with pytest.raises(TypeError, match="no nltk.Tree"):
        srparse.Tree.from_nltk("(S)")


def test_deep_trees_need_no_recursion():
    depth = 5000
    text = "(X " * depth + "(Y y)" + ")" * depth
    tree = srparse.Tree(text)
    assert str(pickle.loads(pickle.dumps(tree))) == str(srparse.Tree.from_nltk(tree.to_nltk())) == str(tree)


def test_the_nltk_parser_keeps_to_the_interface(parser, sentences):
    theirs = SRParser(parser, threads=2)
    assert isinstance(theirs, nltk.parse.ParserI)
    expected = [parser.parse(tokens).to_nltk() for tokens in sentences[:5]]
    assert [next(trees) for trees in theirs.parse_sents(sentences[:5])] == expected
    assert list(theirs.parse(sentences[0])) == expected[:1]
    assert theirs.parse_one(sentences[0]) == expected[0]
    assert [tree.leaves() for tree in theirs.raw_parse_sents("Dogs bark. Cats sleep.")] == [
        ["Dogs", "bark", "."],
        ["Cats", "sleep", "."],
    ]
    with pytest.raises(NotImplementedError):
        theirs.grammar()


def test_trees_are_used_as_those_of_nltk(tree):
    theirs = tree.to_nltk()
    assert tree.leaves() == theirs.leaves()
    assert [tuple(token) for token in tree.pos()] == theirs.pos()
    assert tree.height() == theirs.height()
    labels = [node.label for node in tree.subtrees()]
    assert labels == [node.label() for node in theirs.subtrees(lambda node: node.height() > 2)]
    assert [node.words for node in tree.subtrees("NP")] == [["the", "dog"], ["*T*-1"]]
    assert [node.height() for node in tree.subtrees("VP")] == [4]
    s = tree[0]
    assert (len(s), s[-1], s[0, 1], s[()]) == (3, srparse.Token(".", "."), ("dog", "NN"), s)
    assert [child for child in s] == s.children == s[:] and s[1:2] == [s[1]]
    assert bool(srparse.Tree("(S )")) and len(srparse.Tree("(S )")) == 0
    for wrong in (3, -4, "NP", (0, 9)):
        with pytest.raises((IndexError, TypeError)):
            s[wrong]


def test_words_have_their_places_in_the_text(parser):
    text = "Mice  don't\nbark. They \U0001f600 run."
    for trees in (
        parser.parse_text(text),
        parser.parse_texts([text])[0][1],
        parser.parse_batch(["Mice don't bark."]),
        [parser.parse("Mice don't bark.")],
        parser.parse_nbest("Mice don't bark.", 2),
    ):
        for tree in trees:
            assert len(tree.offsets) == len(tree.words)
    first, second = parser.parse_text(text)
    assert [text[start:end] for start, end in first.offsets] == ["Mice", "do", "n't", "bark", "."]
    assert [text[start:end] for start, end in second.offsets] == ["They", "\U0001f600", "run", "."]
    inner = first.subtrees("VP")[-1]
    assert inner.offsets == first.offsets[inner.start : inner.end]
    assert pickle.loads(pickle.dumps(first)).offsets == first.offsets
    assert parser.parse(["Mice", "bark"]).offsets is None and srparse.Tree(TEXT).offsets is None


def test_texts_keep_their_ids(parser):
    texts = ["Mice bark. They run.", "", "Cats sleep."]
    numbered = parser.parse_texts(texts)
    assert [(number, len(trees)) for number, trees in numbered] == [(0, 2), (1, 0), (2, 1)]
    named = parser.parse_texts(iter(texts), ids=["a", None, "a"], threads=2)
    assert [name for name, _ in named] == ["a", None, "a"]
    assert [trees for _, trees in named] == [parser.parse_text(text) for text in texts]
    for ids in (["a"], "abcd"):
        with pytest.raises(ValueError, match="as many ids as texts"):
            parser.parse_texts(texts, ids)
    with pytest.raises(TypeError, match="one text"):
        parser.parse_texts("Mice bark.")


def test_profiles_clean_what_is_read(tmp_path):
    path = tmp_path / "bank.psd"
    path.write_text("( (IP-MAT (NP-SBJ (PRO he)) (VB sings) (NP (*T* *T*)) (. .)) (ID 1_a;x))\n")
    (tree,) = srparse.read_trees(path, treebank="keyaki")
    assert tree.words == ["he", "sings", "."]
    with pytest.raises(ValueError, match="did you mean `keyaki`"):
        srparse.read_trees(path, treebank="keyaky")


def test_skipped_trees_are_warned_of(tmp_path):
    path = tmp_path / "bad.mrg"
    path.write_text("(S (A a)) x\n(S (A a))\n")
    with pytest.warns(UserWarning, match="read 2 trees, skipped 1 .*bad.mrg:1: "):
        assert len(srparse.read_trees(path, skip_bad=True)) == 2
