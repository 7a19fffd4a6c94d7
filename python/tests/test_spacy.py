"""The component of spaCy pipelines, with the real spaCy."""

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from srparse.spacy import NonConstituentException


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("srparse")
    return nlp


def test_a_blank_pipeline_parses(nlp, parser):
    doc = nlp("These cells didn't divide. The mice survived.")
    first, second = doc.sents
    assert first._.parse_string == str(parser.parse(first.text)).removeprefix("(TOP ")[:-1]
    assert (second.text, second._.labels, second._.parent) == ("The mice survived.", ("S",), None)


def test_constituents_are_those_of_benepar(nlp):
    (sentence,) = nlp("These cells died.").sents
    found = [(span.text, span._.labels) for span in sentence._.constituents]
    assert found == [
        ("These cells died.", ("S",)),
        ("These cells", ("NP",)),
        ("These", ()),
        ("cells", ()),
        ("died", ("VP",)),
        (".", ()),
    ]
    np, vp, stop = sentence._.children
    assert (np.text, vp.text, stop.text) == ("These cells", "died", ".")
    assert np._.parent.text == vp._.parent.text == sentence.text
    assert np._.parse_string == "(NP (DT These) (NNS cells))"
    assert [child.text for child in np._.children] == ["These", "cells"]
    assert sentence[0]._.parse_string == "(DT These)" and sentence[0]._.parent.text == "These cells"
    assert sentence[2]._.labels == ("VP",)


def test_other_spans_are_no_constituents(nlp):
    doc = nlp("These cells died.")
    with pytest.raises(NonConstituentException, match="cells died"):
        doc[1:3]._.labels
    with pytest.raises(ValueError, match="add nlp.add_pipe"):
        spacy.blank("en")("These cells died.")[0:2]._.labels


def test_white_space_and_brackets_are_not_lost(nlp):
    doc = nlp("The  dog\n(barked).  \n\n ")
    (sentence,) = [sentence for sentence in doc.sents if sentence.text.strip()]
    assert "(-LRB- -LRB-)" in sentence._.parse_string and "(-RRB- -RRB-)" in sentence._.parse_string
    assert sentence._.labels
    words = [span.text for span in sentence._.constituents if span[0].i == span[-1].i]
    assert words == ["The", "dog", "(", "barked", ")", "."]


def test_empty_documents_pass(nlp):
    assert list(nlp("").sents) == [] and nlp("  \n ").text == "  \n "


def test_tags_of_the_pipeline_are_used_unless_told_otherwise(nlp):
    words = ["They", "dog", "him"]
    tags = ["PRP", "VBP", "PRP"]
    doc = nlp.get_pipe("srparse")(Doc(nlp.vocab, words=words, tags=tags, sent_starts=[True, False, False]))
    assert "(VBP dog)" in doc[:]._.parse_string
    own = spacy.blank("en")
    own.add_pipe("srparse", config={"tags": "model"})
    doc = own.get_pipe("srparse")(
        Doc(own.vocab, words=words, tags=["X"] * 3, sent_starts=[True, False, False])
    )
    assert "(X " not in doc[:]._.parse_string
    with pytest.raises(ValueError, match="tags is 'none'"):
        spacy.blank("en").add_pipe("srparse", config={"tags": "none"})


def test_sentences_of_the_pipeline_are_kept():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"punct_chars": ["|"]})
    nlp.add_pipe("srparse")
    doc = nlp("The cells died. | The cat slept.")
    assert [sentence.text for sentence in doc.sents] == ["The cells died. |", "The cat slept."]


def test_streams_and_processes_give_the_same(nlp):
    texts = [f"The dog saw {n} cats. They slept." for n in range(20)]

    def strings(docs):
        return [[sentence._.parse_string for sentence in doc.sents] for doc in docs]

    alone = strings(map(nlp, texts))
    assert strings(nlp.pipe(texts, batch_size=3)) == alone
    assert strings(nlp.pipe(texts, n_process=2, batch_size=5)) == alone


def test_parsed_documents_and_pipelines_are_stored(nlp, tmp_path):
    doc = nlp("These cells died.")
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (again,) = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    assert next(again.sents)._.parse_string == next(doc.sents)._.parse_string
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert next(loaded(doc.text).sents)._.parse_string == next(doc.sents)._.parse_string


def test_tags_are_written_on_request():
    nlp = spacy.blank("en")
    nlp.add_pipe("srparse", config={"set_tags": True})
    doc = nlp("The mice don't bark.")
    assert [token.tag_ for token in doc][:2] == ["DT", "NNS"]
    assert all(token.tag_ for token in doc)
    plain = spacy.blank("en")
    plain.add_pipe("srparse")
    assert not any(token.tag_ for token in plain("The mice bark."))


def test_documents_are_parsed_by_several_processes():
    nlp = spacy.blank("en")
    nlp.add_pipe("srparse", config={"model": "english-fast", "set_tags": True})
    texts = [f"The dog barks {n} times. It sleeps." for n in range(40)]
    one, two = list(nlp.pipe(texts)), list(nlp.pipe(texts, n_process=2, batch_size=5))
    strings = lambda docs: [[sentence._.parse_string for sentence in doc.sents] for doc in docs]
    assert strings(one) == strings(two) and len(strings(one)[0]) == 2
    assert [[token.tag_ for token in doc] for doc in one] == [[token.tag_ for token in doc] for doc in two]
