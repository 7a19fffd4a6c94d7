//! The report of the agreement of several parsers, for people and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::eval::agreement::Agreement;
use crate::eval::percent::percent;

/// The subset that no system belongs to, and all others, as a report names them.
pub fn name(subset: &[&str]) -> String {
    if subset.is_empty() { "none".to_owned() } else { subset.join(" ") }
}

/// The brackets that several parsers get right.
#[derive(Debug, Clone)]
pub struct Report {
    /// The gold brackets that the parsers find.
    pub brackets: Agreement,
    /// The sentences whose brackets are exactly the gold ones.
    pub exact: Agreement,
    /// The number of sentences of each parser that EVALB excludes; they count as parses without brackets.
    pub failures: Vec<u64>,
    /// The maximum length of the sentences, if limited.
    pub max_words: Option<u32>,
}

impl Report {
    fn rows(&self) -> impl Iterator<Item = (Vec<&'static str>, u64, u64)> {
        let both = self.brackets.subsets().into_iter().zip(self.exact.subsets());
        both.map(|((right, brackets), (_, exact))| (right, brackets, exact))
    }

    /// Writes the report as text.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let (brackets, sentences) = (self.brackets.number(), self.exact.number());
        let title = "right";
        writeln!(
            out,
            "{title:12}{:>14}{:>10}{:>13}{:>10}",
            "gold brackets", "%", "exact trees", "%"
        )?;
        for (right, of_brackets, of_sentences) in self.rows() {
            let shares = [percent(of_brackets, brackets), percent(of_sentences, sentences)];
            write!(out, "{:12}{of_brackets:>14}{:>10.2}", name(&right), shares[0])?;
            writeln!(out, "{of_sentences:>13}{:>10.2}", shares[1])?;
        }
        let limit = self.max_words.map(|n| format!(" of at most {n} words")).unwrap_or_default();
        writeln!(out, "{sentences} sentences{limit}, {brackets} gold brackets")
    }

    /// Writes the report as one JSON object; its keys are stable and documented in docs/formats.md.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn json(&self, out: &mut impl Write) -> io::Result<()> {
        let row = |(right, brackets, exact)| Row { right, brackets, exact };
        let document = Document {
            sentences: self.exact.number(),
            max_words: self.max_words,
            brackets: self.brackets.number(),
            failures: &self.failures,
            agreement: self.rows().map(row).collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}

#[derive(Serialize)]
struct Document<'a> {
    sentences: u64,
    max_words: Option<u32>,
    brackets: u64,
    failures: &'a [u64],
    agreement: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    right: Vec<&'static str>,
    brackets: u64,
    exact: u64,
}
