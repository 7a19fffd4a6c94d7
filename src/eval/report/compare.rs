//! The report of a comparison, for people and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::eval::BracketFilter;
use crate::eval::significance::{Comparison, Measures, Settings};

/// A line of the report: its name and its score.
type Line = (&'static str, fn(&Measures) -> f64);

/// A comparison and its settings.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// Its settings.
    pub settings: &'a Settings,
    /// The maximum length of the sentences, if limited.
    pub max_words: Option<u32>,
    /// The brackets that were compared.
    pub filter: &'a BracketFilter,
    /// The number of sentences of A and of B that EVALB excludes; they count as parses without brackets.
    pub failures: [u64; 2],
}

impl Report<'_> {
    /// Writes the report as text.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let Comparison { sentences, scores: [a, b], p, f1_interval, better } = self.comparison;
        let difference = self.comparison.difference();
        writeln!(out, "{:12}{:>9}{:>9}{:>9}{:>10}", "", "A", "B", "B - A", "p")?;
        let measures: [Line; 3] =
            [("precision", |m| m.precision), ("recall", |m| m.recall), ("F1", |m| m.f1)];
        for (name, of) in measures {
            write!(out, "{name:12}{:9.2}{:9.2}{:+9.2}", of(a), of(b), of(&difference))?;
            writeln!(out, "{:>10}", p_value(of(p)))?;
        }
        let Settings { shuffles, resamples, .. } = self.settings;
        writeln!(out, "p: two-sided, {shuffles} stratified shuffles")?;
        let [low, high] = f1_interval;
        writeln!(out, "95 % interval of the F1 difference: {low:+.2} to {high:+.2}")?;
        writeln!(out, "interval: paired bootstrap, {resamples} samples")?;
        if let Some(label) = self.filter.label() {
            writeln!(out, "only brackets labelled {label}")?;
        }
        if let Some(children) = self.filter.children() {
            writeln!(out, "only brackets by number of children: {children}")?;
        }
        let limit = self.max_words.map(|n| format!(" of at most {n} words")).unwrap_or_default();
        let [better_a, better_b] = better;
        let equal = self.comparison.equal();
        writeln!(
            out,
            "{sentences} sentences{limit}: A better on {better_a}, B better on {better_b}, equal on {equal}"
        )
    }

    /// Writes the report as one JSON object; its keys are stable and documented in docs/formats.md.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn json(&self, out: &mut impl Write) -> io::Result<()> {
        let Comparison { sentences, scores, p, f1_interval, better } = *self.comparison;
        let system = |at: usize| System {
            scores: scores[at],
            failures: self.failures[at],
            better: better[at],
        };
        let document = Document {
            sentences,
            max_words: self.max_words,
            label: self.filter.label(),
            children: self.filter.children(),
            a: system(0),
            b: system(1),
            equal: self.comparison.equal(),
            difference: self.comparison.difference(),
            p,
            f1_interval,
            shuffles: self.settings.shuffles,
            resamples: self.settings.resamples,
            seed: self.settings.seed,
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}

/// Formats a p-value with four decimals, or in scientific notation if it is smaller.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { format!("{p:.1e}") } else { format!("{p:.4}") }
}

#[derive(Serialize)]
struct Document<'a> {
    sentences: u64,
    max_words: Option<u32>,
    label: Option<&'a str>,
    children: Option<&'static str>,
    a: System,
    b: System,
    equal: u64,
    difference: Measures,
    p: Measures,
    f1_interval: [f64; 2],
    shuffles: u64,
    resamples: u64,
    seed: u64,
}

#[derive(Serialize)]
struct System {
    #[serde(flatten)]
    scores: Measures,
    failures: u64,
    better: u64,
}
