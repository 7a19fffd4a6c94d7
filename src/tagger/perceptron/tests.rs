use super::*;
use crate::classifier::packed::Lookup;
use crate::tagger::TaggerWorker;
use crate::tree::remove_tags;

fn sentence(text: &str) -> Vec<Token> {
    let split = |token: &str| token.split_once('/').map(|(word, tag)| Token::new(word, tag));
    text.split(' ').filter_map(split).collect()
}

fn corpus() -> Vec<Vec<Token>> {
    let lines = [
        "the/DT dog/NN barks/VBZ ./.",
        "the/DT dogs/NNS bark/VBP ./.",
        "a/DT cat/NN sleeps/VBZ ./.",
        "cats/NNS sleep/VBP",
        "she/PRP saw/VBD the/DT saw/NN ./.",
        "the/DT bark/NN of/IN a/DT tree/NN",
        "(/-LRB- 12/CD dogs/NNS )/-RRB-",
    ];
    lines.map(sentence).to_vec()
}

fn fitted(params: &PerceptronTaggerParams, sentences: &[Vec<Token>]) -> PerceptronTagger {
    let sentences: Vec<&[Token]> = sentences.iter().map(Vec::as_slice).collect();
    params.fit(&sentences, &Fit::quiet(1)).unwrap()
}

fn tagged(tagger: &PerceptronTagger, words: &str) -> String {
    let mut tokens: Vec<Token> = words.split(' ').map(|word| Token::new(word, "")).collect();
    TaggerWorker::new(tagger).tag(&mut tokens);
    tokens.iter().map(|token| token.tag.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_corpus_is_learned_by_heart_and_unseen_words_go_by_their_form() {
    let tagger = fitted(&PerceptronTaggerParams::default(), &corpus());
    for gold in corpus() {
        let mut tokens = gold.clone();
        remove_tags(&mut tokens);
        TaggerWorker::new(&tagger).tag(&mut tokens);
        assert_eq!(tokens, gold);
    }
    assert_eq!(tagged(&tagger, "-LRB- 47 dogs -RRB-"), "-LRB- CD NNS -RRB-");
}

#[test]
fn stored_and_read_it_tags_the_same() {
    let tagger = fitted(&PerceptronTaggerParams::default(), &corpus());
    let mut sections = Sections::default();
    tagger.store(&mut sections).unwrap();
    let read = PerceptronTagger::load(&sections).unwrap();
    let words = "she saw a tree of 3 unheard-of Cats";
    assert_eq!(tagged(&tagger, words), tagged(&read, words));
    let tags = sections.0.iter().position(|section| section.name == "tags").unwrap();
    sections.0.remove(tags);
    assert!(PerceptronTagger::load(&sections).is_err());
}

/// The tags that the sums of all weights give, one token after the other without any cache.
fn plainly(tagger: &PerceptronTagger, tokens: &[Token]) -> Vec<u16> {
    use crate::tagger::feature::{self, HISTORY, NO_TAG, PLACES, REACH, Window, tag_value};
    use crate::tagger::form::Form;
    let mut forms = vec![Form::BOUNDARY; REACH];
    forms.extend(tokens.iter().map(|token| Form::of(&token.word, &tagger.lexicon)));
    forms.extend([Form::BOUNDARY; REACH]);
    let (mut tags, mut out) = ([NO_TAG; HISTORY], Vec::new());
    for forms in forms.array_windows::<PLACES>() {
        let mut lookup = Lookup::default();
        for (place, form) in forms.iter().enumerate() {
            feature::word(place, form, &mut lookup.ids);
        }
        feature::context(&Window { forms: *forms, tags }, &mut lookup.ids);
        let mut sums = vec![0i16; tagger.tags.len().next_multiple_of(32)];
        tagger.tables.sum(&mut lookup, &mut sums);
        let best = (0..tagger.tags.len()).rev().max_by_key(|&tag| sums[tag]).unwrap() as u16;
        tags = [tag_value(best), tags[0], tags[1]];
        out.push(best);
    }
    out
}

proptest::proptest! {
    #[test]
    fn the_cache_changes_nothing(
        sentences in proptest::collection::vec(
            proptest::collection::vec("the|dog|bark|[a-c]{0,3}|[A-Z\u{4e00}-\u{4e20}0-9(]{1,2}", 0..9),
            1..12,
        ),
    ) {
        static TAGGER: std::sync::LazyLock<PerceptronTagger> =
            std::sync::LazyLock::new(|| fitted(&PerceptronTaggerParams::default(), &corpus()));
        let mut worker = TAGGER.predictor();
        let mut out = Vec::new();
        for words in sentences {
            let tokens: Vec<Token> = words.iter().map(|word| Token::new(word.as_str(), "")).collect();
            worker.predict(&tokens, &mut out);
            proptest::prop_assert_eq!(&out, &plainly(&TAGGER, &tokens));
        }
    }
}

#[test]
fn there_is_nothing_to_learn_from_nothing() {
    let error = PerceptronTaggerParams::default().fit(&[], &Fit::quiet(1));
    assert!(error.unwrap_err().to_string().contains("no tagged words"));
}
