use super::*;
use crate::classifier::perceptron::{Perceptron, PerceptronParams};
use crate::feature::Indicators;
use crate::tagger::TaggerWorker;
use crate::tree::remove_tags;

fn make(columns: &[Column], _tags: usize) -> Result<Box<dyn Learner>> {
    let params = PerceptronParams { epochs: 20, ..PerceptronParams::default() };
    Ok(Box::new(Perceptron { params, indicators: Indicators::of_columns(columns) }))
}

fn corpus() -> Vec<Vec<Token>> {
    let lines = [
        "the/DT dog/NN barks/VBZ ./.",
        "the/DT dogs/NNS bark/VBP ./.",
        "a/DT cat/NN sleeps/VBZ ./.",
        "she/PRP saw/VBD the/DT saw/NN ./.",
        "the/DT bark/NN of/IN a/DT tree/NN",
        "12/CD dogs/NNS in/IN May/NNP",
    ];
    let split = |token: &str| token.split_once('/').map(|(word, tag)| Token::new(word, tag));
    let sentence = |line: &str| line.split(' ').filter_map(split).collect();
    let sentences: Vec<Vec<Token>> = lines.iter().map(|line| sentence(line)).collect();
    (0..4).flat_map(|_| sentences.clone()).collect()
}

fn fitted() -> TwoPassTagger {
    let corpus = corpus();
    let sentences: Vec<&[Token]> = corpus.iter().map(Vec::as_slice).collect();
    TwoPassTagger::fit(&sentences, &make, 3, true, &Fit::quiet(1)).unwrap()
}

fn tagged(tagger: &dyn Tagger, words: &[Token]) -> Vec<Token> {
    let mut tokens = words.to_vec();
    remove_tags(&mut tokens);
    TaggerWorker::new(tagger).tag(&mut tokens);
    tokens
}

#[test]
fn a_corpus_is_learned_by_heart() {
    let tagger = fitted();
    for gold in corpus() {
        assert_eq!(tagged(&tagger, &gold), gold);
    }
}

#[test]
fn stored_and_read_it_tags_the_same() {
    let tagger = fitted();
    let mut sections = Sections::default();
    tagger.store(&mut sections).unwrap();
    let read = TwoPassTagger::load(&sections, &make).unwrap();
    let words = ["she", "saw", "frogs", "in", "a", "tree"].map(|word| Token::new(word, "?"));
    assert_eq!(tagged(&tagger, &words), tagged(&read, &words));
    sections.0.retain(|section| !section.name.starts_with("second/"));
    assert!(TwoPassTagger::load(&sections, &make).is_err());
}

#[test]
fn nothing_and_too_little_are_refused() {
    let fit = Fit::quiet(1);
    let fitted = TwoPassTagger::fit(&[], &make, 3, true, &fit);
    assert!(fitted.err().unwrap().to_string().contains("no tagged words"));
    let corpus = corpus();
    let fitted = TwoPassTagger::fit(&[&corpus[0]], &make, 3, true, &fit);
    assert!(fitted.err().unwrap().to_string().starts_with("jackknife: 1 sentence"));
}
