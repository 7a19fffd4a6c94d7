//! Sentences as Python gives them: raw text, words, or words with tags.

use std::borrow::Cow;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple};
use srparse::Token;
use srparse::text::{TextSentence, Tokenizer};

use crate::work::work;

const FORM: &str = "give raw text, a list of words, or a list of (word, tag)";

/// The characters of each word in a text: where it starts and ends.
pub(crate) type Offsets = Vec<(u64, u64)>;

/// A sentence to parse.
pub(crate) struct Sentence {
    pub(crate) tokens: Vec<Token>,
    /// The places of the words; `None` if these are given.
    pub(crate) offsets: Option<Offsets>,
}

impl From<TextSentence> for Sentence {
    fn from(TextSentence { tokens, layout, .. }: TextSentence) -> Self {
        let offsets = layout.spans.iter().map(|span| (span.start, span.end)).collect();
        Self { tokens, offsets: Some(offsets) }
    }
}

impl Sentence {
    /// The number of bytes of its words.
    pub(crate) fn size(&self) -> usize {
        self.tokens.iter().map(|token| token.word.len() + 1).sum()
    }
}

/// A sentence as Python gives it.
///
/// # Errors
/// `TypeError` or `ValueError` when it is no sentence, has an empty word, or is a text of several sentences.
pub(crate) fn sentence(sentence: &Bound<'_, PyAny>, text: &Tokenizer) -> PyResult<Sentence> {
    if let Ok(raw) = sentence.cast::<PyString>() {
        return of_text(sentence.py(), raw.to_cow()?.into_owned(), text);
    }
    // Bytes have numbers, and the others have no order, or none of their own.
    let has_no_words = sentence.is_instance_of::<PyBytes>()
        || sentence.is_instance_of::<PySet>()
        || sentence.is_instance_of::<PyFrozenSet>()
        || sentence.is_instance_of::<PyDict>();
    let items = if has_no_words { None } else { sentence.try_iter().ok() };
    let Some(items) = items else {
        let problem = format!("a {} is no sentence: {FORM}", sentence.get_type().name()?);
        return Err(PyTypeError::new_err(problem));
    };
    // Lengths may be promised by who has no items.
    let mut tokens = Vec::new();
    for item in items {
        tokens.push(token(&item?, tokens.len())?);
    }
    Ok(Sentence { tokens, offsets: None })
}

/// Splits an English text into sentences, and these into words; `Parser.split_text` splits by the settings of a
/// model.
///
/// A word is (word, start, end): as in a tree, and its characters in the text.
#[pyfunction]
pub(crate) fn split_text(py: Python<'_>, text: String) -> PyResult<Vec<Vec<PlacedWord>>> {
    placed_words(py, text, &Tokenizer::default())
}

/// A word as in a tree, with the characters of the text where it starts and ends.
pub(crate) type PlacedWord = (String, u64, u64);

/// The words of the sentences of a text.
pub(crate) fn placed_words(
    py: Python<'_>,
    text: String,
    tokenizer: &Tokenizer,
) -> PyResult<Vec<Vec<PlacedWord>>> {
    let words = |sentence: TextSentence| {
        let words = sentence.tokens.iter().zip(&sentence.layout.spans);
        words.map(|(token, span)| (token.word.to_string(), span.start, span.end)).collect()
    };
    Ok(split(py, text, tokenizer)?.into_iter().map(words).collect())
}

/// The sentences of a text.
pub(crate) fn split(
    py: Python<'_>,
    text: String,
    tokenizer: &Tokenizer,
) -> PyResult<Vec<TextSentence>> {
    let splitter = tokenizer.clone();
    let found = work(py, text.len(), move || splitter.sentences(&text))?;
    match found.iter().find_map(|sentence| tokenizer.refuses(&sentence.layout.text)) {
        Some(problem) => Err(PyValueError::new_err(problem)),
        None => Ok(found),
    }
}

/// A text that is one sentence, or blank.
fn of_text(py: Python<'_>, raw: String, tokenizer: &Tokenizer) -> PyResult<Sentence> {
    let mut found = split(py, raw, tokenizer)?;
    if let [_, second, ..] = &found[..] {
        let start = second.layout.spans.first().map_or(0, |span| span.start);
        return Err(PyValueError::new_err(format!(
            "the text has {} sentences, the second from character {start} on: use parse_text(), or give a list of \
             words",
            found.len()
        )));
    }
    let blank = Sentence { tokens: Vec::new(), offsets: Some(Vec::new()) };
    Ok(found.pop().map_or(blank, Sentence::from))
}

/// A word, or a pair of a word and a tag.
fn token(item: &Bound<'_, PyAny>, position: usize) -> PyResult<Token> {
    let token = if let Ok(word) = item.cast::<PyString>() {
        Token::untagged(&*word.to_cow()?)
    } else {
        let (word, tag) = pair(item).ok_or_else(|| unreadable(item, position))?;
        let tag = if tag.is_none() { Cow::Borrowed("") } else { text(&tag, position)? };
        Token::new(text(&word, position)?, tag)
    };
    if token.word.is_empty() {
        return Err(PyValueError::new_err(format!("token {position} has an empty word: {FORM}")));
    }
    Ok(token)
}

/// The two items of a tuple or list.
fn pair<'py>(item: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let pair = match item.cast::<PyTuple>() {
        Ok(pair) => pair.clone(),
        Err(_) => item.cast::<PyList>().ok()?.to_tuple(),
    };
    let two = pair.len() == 2;
    if two { Some((pair.get_item(0).ok()?, pair.get_item(1).ok()?)) } else { None }
}

fn text<'a>(item: &'a Bound<'_, PyAny>, position: usize) -> PyResult<Cow<'a, str>> {
    item.cast::<PyString>().map_err(|_| unreadable(item, position))?.to_cow()
}

fn unreadable(item: &Bound<'_, PyAny>, position: usize) -> PyErr {
    let shown = item.repr().map(|shown| shown.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("token {position} is {shown}: {FORM}"))
}
