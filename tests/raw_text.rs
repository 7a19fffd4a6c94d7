//! How well sentences and tokens are found in the text of real treebanks, when `SRPARSE_TREEBANKS` names the
//! folder that has them: `cargo test --test raw_text -- --nocapture` prints the scores.
//!
//! The treebanks do not say where their texts have spaces. Here two tokens have one between them unless
//! - the first is an opening bracket, an opening quotation mark, or one of $ £ € # ~;
//! - the second is a closing bracket or quotation mark, or one of . , : ; ? ! % ... … ′ ' * ** ***;
//! - the second is a clitic (`'s`, `n't`, …), or both are halves of `gonna`, `cannot` and the like;
//! - one of them has the tag HYPH, or is a slash or a minus, or a colon between numbers, with the tag SYM.
//!
//! Sentences are joined by a space, or (`headings apart`) by a blank line after one without a final mark.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

use std::collections::BTreeSet;
use std::path::PathBuf;

use srparse::Token;
use srparse::text::{Compounds, Punctuation, Splitter, TextSettings, Tokenization};
use srparse::treebank::{ReadOptions, read_all};

const CRAFT_AND_GUM: TextSettings = TextSettings {
    tokenization: Tokenization::Penn,
    compounds: Compounds::Split,
    punctuation: Punctuation::Keep,
};

/// A range of characters.
type Range = (u64, u64);

/// A text with the places of its tokens and sentences.
#[derive(Default)]
struct Text {
    text: String,
    tokens: BTreeSet<Range>,
    sentences: BTreeSet<Range>,
}

impl Text {
    /// The text of a treebank.
    fn of(sentences: &[Vec<Token>], headings_apart: bool) -> Self {
        let mut text = Self::default();
        let mut at = 0;
        let mut separator = "";
        for sentence in sentences {
            text.text.push_str(separator);
            at += separator.len() as u64;
            let start = at;
            for (position, token) in sentence.iter().enumerate() {
                if position > 0 && !are_joined(&sentence[position - 1], token) {
                    text.text.push(' ');
                    at += 1;
                }
                let surface = surface(token);
                text.text.push_str(&surface);
                let end = at + surface.chars().count() as u64;
                text.tokens.insert((at, end));
                at = end;
            }
            text.sentences.insert((start, at));
            separator = if headings_apart && !is_final(sentence) { "\n\n" } else { " " };
        }
        text
    }

    /// The tokens and sentences that are found in it.
    fn found(&self) -> Self {
        let mut found = Self::default();
        let mut splitter = Splitter::new(CRAFT_AND_GUM);
        let mut take = |splitter: &mut Splitter| {
            while let Some(sentence) = splitter.next_sentence() {
                let spans = sentence.layout.spans;
                found.tokens.extend(spans.iter().map(|span| (span.start, span.end)));
                found.sentences.insert((spans[0].start, spans[spans.len() - 1].end));
            }
        };
        for line in self.text.split_inclusive('\n') {
            splitter.add_line(line);
            take(&mut splitter);
        }
        splitter.end_paragraph();
        take(&mut splitter);
        found
    }
}

/// The word as it stood in the text.
fn surface(token: &Token) -> String {
    token.word.replace("-LRB-", "(").replace("-RRB-", ")")
}

/// Whether nothing stands between two tokens.
fn are_joined(first: &Token, second: &Token) -> bool {
    let (one, two) = (surface(first), surface(second));
    let both = format!("{one}{two}").to_lowercase();
    let is_joiner = |token: &Token, word: &str| {
        let is_symbol = token.tag == "SYM" && ["/", "-", "\u{2212}", "\u{2013}"].contains(&word);
        token.tag == "HYPH" || is_symbol
    };
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let is_clitic = || {
        let clitics = ["n't", "'s", "'m", "'d", "'re", "'ve", "'ll"];
        clitics.contains(&two.to_lowercase().replace('\u{2019}', "'").as_str())
    };
    ["(", "[", "{", "\u{201c}", "\u{2018}", "$", "\u{a3}", "\u{20ac}", "#", "~"]
        .contains(&one.as_str())
        || first.tag == "``"
        || [")", "]", "}", "\u{201d}", ".", ",", ";", "?", "!", "%", "...", "\u{2026}"]
            .contains(&two.as_str())
        || two == ":" && second.tag != "SYM"
        || ["\u{2032}", "'", "*", "**", "***"].contains(&two.as_str()) && second.tag == "SYM"
        || ["''", "POS"].contains(&second.tag.as_str())
        || is_clitic()
        || ["gonna", "wanna", "gotta", "cannot", "lemme", "gimme"].contains(&both.as_str())
        || is_joiner(first, &one)
        || is_joiner(second, &two)
        || two == ":" && is_number(&one)
        || one == ":" && first.tag == "SYM" && is_number(&two)
}

/// Whether a sentence ends with a final mark, perhaps inside brackets or quotation marks.
fn is_final(sentence: &[Token]) -> bool {
    let closes = |token: &&Token| {
        ["-RRB-", ")", "]", "''", "\"", "\u{201d}", "'", "\u{2019}"].contains(&token.word.as_str())
    };
    let last = sentence.iter().rev().find(|token| !closes(token));
    last.is_some_and(|token| token.word.ends_with(['.', '?', '!', '\u{2026}']))
}

/// F1 of what is found, in percent.
fn f1(gold: &BTreeSet<Range>, found: &BTreeSet<Range>) -> f64 {
    let right = gold.intersection(found).count();
    200.0 * right as f64 / (gold.len() + found.len()) as f64
}

/// F1 of tokens and of sentences in the text of a treebank; `None` without treebanks.
fn scores(name: &str, headings_apart: bool) -> Option<(f64, f64)> {
    let folder = std::env::var_os("SRPARSE_TREEBANKS")?;
    let (trees, _) =
        read_all(&[PathBuf::from(folder).join(name)], &ReadOptions::default()).unwrap();
    let words =
        |tokens: Vec<Token>| tokens.into_iter().filter(|token| token.tag != "-NONE-").collect();
    let sentences: Vec<Vec<Token>> =
        trees.into_iter().map(|tree| words(tree.into_tokens())).collect();
    let gold = Text::of(&sentences, headings_apart);
    let found = gold.found();
    let scores = (f1(&gold.tokens, &found.tokens), f1(&gold.sentences, &found.sentences));
    let how = if headings_apart { ", headings apart" } else { "" };
    println!("{name}{how}: token F1 {:.2}, sentence F1 {:.2}", scores.0, scores.1);
    Some(scores)
}

#[test]
fn tokens_and_sentences_of_real_text_are_found() {
    for (name, headings_apart, tokens, sentences) in [
        ("gum/dev.mrg", false, 99.8, 89.0),
        ("gum/dev.mrg", true, 99.8, 99.0),
        ("craft/dev.mrg", false, 99.8, 83.5),
        ("craft/dev.mrg", true, 99.8, 99.4),
    ] {
        let Some((token_f1, sentence_f1)) = scores(name, headings_apart) else { return };
        assert!(token_f1 >= tokens && sentence_f1 >= sentences, "{name}: {token_f1} {sentence_f1}");
    }
}

#[test]
fn the_settings_are_those_of_the_treebanks() {
    let Some(folder) = std::env::var_os("SRPARSE_TREEBANKS") else { return };
    for (name, settings) in [
        ("craft/train.mrg", CRAFT_AND_GUM),
        ("gum/train-open.mrg", CRAFT_AND_GUM),
        (
            "sinica/train.mrg",
            TextSettings {
                tokenization: Tokenization::Unicode,
                compounds: Compounds::Keep,
                punctuation: Punctuation::Keep,
            },
        ),
    ] {
        let path = PathBuf::from(&folder).join(name);
        let (trees, _) = read_all(&[path], &ReadOptions::default()).unwrap();
        let words = trees.iter().flat_map(|tree| tree.tokens()).map(|token| token.word.as_str());
        assert_eq!(TextSettings::default().resolved(words), settings, "{name}");
    }
}
