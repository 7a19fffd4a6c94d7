//! How well sentences and tokens are found in the text of treebanks:
//! `cargo test --test treebanks raw_text -- --nocapture` prints the scores; with `TEXTS=FOLDER` it writes the texts with
//! headings apart.
//!
//! The treebanks do not say where their texts have spaces. Here two tokens have one between them unless
//! - the first is an opening bracket, an opening quotation mark, or one of $ £ € # ~;
//! - the second is a closing bracket or quotation mark, or one of . , : ; ? ! % ... … ′ ' * ** ***;
//! - the second is a clitic (`'s`, `n't`, …), or both are halves of `gonna`, `cannot` and the like;
//! - one of them has the tag HYPH, or is a slash or a minus, or a colon between numbers, with the tag SYM.
//!
//! EWT has its texts in comments, and says where documents begin: there is a blank line.
//!
//! Sentences are joined by a space, or (`headings apart`) by a blank line after one without a final mark.

use std::collections::BTreeSet;
use std::path::PathBuf;

use srparse::text::{Compounds, Language, Punctuation, Splitter, TextSettings, Tokenization};
use srparse::treebank::{ReadOptions, read_all};
use srparse::{Token, Tree};

const CRAFT_AND_GUM: TextSettings = TextSettings {
    tokenization: Tokenization::Penn,
    compounds: Compounds::Split,
    punctuation: Punctuation::Keep,
    language: Language::Auto,
};

/// A range of characters.
type Range = (u64, u64);

/// A sentence of a treebank: its text, and the places of its words in it.
#[derive(Default)]
struct Sentence {
    text: String,
    words: Vec<Range>,
    /// Whether it ends with a final mark, perhaps inside brackets or quotation marks.
    is_final: bool,
    begins_document: bool,
}

impl Sentence {
    /// A sentence of which only the words are known.
    fn detokenized(tokens: &[Token]) -> Self {
        let mut sentence = Self::default();
        for (position, token) in tokens.iter().enumerate() {
            if position > 0 && !are_joined(&tokens[position - 1], token) {
                sentence.text.push(' ');
            }
            let start = length(&sentence.text);
            sentence.text.push_str(&surface(token));
            sentence.words.push((start, length(&sentence.text)));
        }
        Self { is_final: is_final(tokens.iter().map(|token| &*token.word)), ..sentence }
    }

    /// A sentence of which the text is known.
    fn aligned(text: &str, words: &[&str], begins_document: bool) -> Self {
        let mut at = 0;
        let place = |word: &&str| {
            let start = at + text[at..].find(word).unwrap();
            at = start + word.len();
            (length(&text[..start]), length(&text[..at]))
        };
        let places = words.iter().map(place).collect();
        let is_final = is_final(words.iter().copied());
        Self { text: text.to_owned(), words: places, is_final, begins_document }
    }
}

/// A text with the places of its tokens and sentences.
#[derive(Default)]
struct Text {
    text: String,
    tokens: BTreeSet<Range>,
    sentences: BTreeSet<Range>,
}

impl Text {
    /// The text of a treebank.
    fn of(sentences: &[Sentence], headings_apart: bool) -> Self {
        let mut text = Self::default();
        let (mut at, mut is_open) = (0, true);
        for (position, Sentence { text: part, words, is_final, begins_document }) in
            sentences.iter().enumerate()
        {
            let is_apart = *begins_document || headings_apart && is_open;
            let separator = if is_apart { "\n\n" } else { " " };
            if position > 0 {
                text.text.push_str(separator);
                at += length(separator);
            }
            text.text.push_str(part);
            text.tokens.extend(words.iter().map(|&(start, end)| (at + start, at + end)));
            text.sentences.insert((at + words[0].0, at + words[words.len() - 1].1));
            (at, is_open) = (at + length(part), !is_final);
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

/// The number of characters.
fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// The word as it stood in the text.
fn surface(token: &Token) -> String {
    match token.word.as_str() {
        "``" | "''" => "\"".to_owned(),
        "-LSB-" => "[".to_owned(),
        "-RSB-" => "]".to_owned(),
        word => word.replace("-LRB-", "(").replace("-RRB-", ")"),
    }
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
fn is_final<'w>(words: impl DoubleEndedIterator<Item = &'w str>) -> bool {
    let closes =
        |word: &&str| ["-RRB-", ")", "]", "''", "\"", "\u{201d}", "'", "\u{2019}"].contains(word);
    let last = words.rev().find(|word| !closes(word));
    last.is_some_and(|word| word.ends_with(['.', '?', '!', '\u{2026}']))
}

/// F1 of what is found, in percent.
fn f1(gold: &BTreeSet<Range>, found: &BTreeSet<Range>) -> f64 {
    let right = gold.intersection(found).count();
    200.0 * right as f64 / (gold.len() + found.len()) as f64
}

/// The sentences of trees.
fn of_trees(path: PathBuf) -> Vec<Sentence> {
    let (trees, _) = read_all(&[path], &ReadOptions::default()).unwrap();
    let words = |tree: Tree| -> Vec<Token> {
        tree.into_tokens().into_iter().filter(|token| token.tag != "-NONE-").collect()
    };
    trees.into_iter().map(|tree| Sentence::detokenized(&words(tree))).collect()
}

/// The sentences of CoNLL-U with `# text` and `# newdoc`.
fn of_columns(path: PathBuf) -> Vec<Sentence> {
    let columns = std::fs::read_to_string(path).unwrap();
    let sentence = |lines: &str| {
        let text = lines.lines().find_map(|line| line.strip_prefix("# text = ")).unwrap();
        let rows = lines.lines().filter(|line| !line.starts_with('#'));
        let words: Vec<&str> = rows.map(|row| row.split('\t').nth(1).unwrap()).collect();
        Sentence::aligned(text, &words, lines.contains("# newdoc"))
    };
    columns.split("\n\n").filter(|lines| !lines.trim().is_empty()).map(sentence).collect()
}

/// F1 of tokens and of sentences in the text of a treebank; `None` without treebanks.
fn scores(name: &str, headings_apart: bool) -> Option<(f64, f64)> {
    let path = crate::treebank(name)?;
    let sentences = if name.ends_with(".conllu") { of_columns(path) } else { of_trees(path) };
    let gold = Text::of(&sentences, headings_apart);
    if let Some(folder) = std::env::var_os("TEXTS").filter(|_| headings_apart) {
        let file = PathBuf::from(folder).join(name.replace('/', "-")).with_extension("txt");
        std::fs::write(file, &gold.text).unwrap();
    }
    let found = gold.found();
    let scores = (f1(&gold.tokens, &found.tokens), f1(&gold.sentences, &found.sentences));
    let how = if headings_apart { ", headings apart" } else { "" };
    println!("{name}{how}: token F1 {:.2}, sentence F1 {:.2}", scores.0, scores.1);
    Some(scores)
}

#[test]
fn tokens_and_sentences_of_real_text_are_found() {
    for (name, headings_apart, tokens, sentences) in [
        ("gum/dev.mrg", false, 99.8, 89.5),
        ("gum/dev.mrg", true, 99.8, 99.4),
        ("craft/dev.mrg", false, 99.9, 84.0),
        ("craft/dev.mrg", true, 99.9, 99.8),
        ("masc/dev.mrg", false, 98.3, 75.7),
        ("masc/dev.mrg", true, 98.3, 90.2),
        ("ewt/train.conllu", false, 99.1, 78.9),
        ("ewt/train.conllu", true, 99.1, 97.9),
    ] {
        let Some((token_f1, sentence_f1)) = scores(name, headings_apart) else { return };
        assert!(token_f1 >= tokens && sentence_f1 >= sentences, "{name}: {token_f1} {sentence_f1}");
    }
}

#[test]
fn the_settings_are_those_of_the_treebanks() {
    for (name, settings) in [
        ("craft/train.mrg", CRAFT_AND_GUM),
        ("gum/train-open.mrg", CRAFT_AND_GUM),
        (
            "sinica/train.mrg",
            TextSettings {
                tokenization: Tokenization::Learned,
                compounds: Compounds::Keep,
                punctuation: Punctuation::Keep,
                language: Language::Auto,
            },
        ),
    ] {
        let Some(path) = crate::treebank(name) else { return };
        let (trees, _) = read_all(&[path], &ReadOptions::default()).unwrap();
        let words = trees.iter().flat_map(|tree| tree.tokens()).map(|token| token.word.as_str());
        assert_eq!(TextSettings::default().resolved(words), settings, "{name}");
    }
}
