//! Patterns of requests, and how trees are searched for them.

use std::ops::ControlFlow::{self, Break, Continue};

use super::reply::Refusal;
use crate::error::{Error, Result};
use crate::find::{Match, Pattern, Searcher};
use crate::tree::Tree;
use crate::tree::heads::HeadRules;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1_000;
/// How many nodes are tried in one tree: less than a second.
const MAX_STEPS: u64 = 10_000_000;
/// How many matches of one tree are written, and about how many bytes.
const MAX_MATCHES: usize = 10_000;
const MAX_BYTES: usize = 8 << 20;

/// A pattern that trees are searched for.
pub(super) struct Search {
    pattern: Pattern,
    heads: HeadRules,
    once: bool,
}

impl Search {
    /// Compiles a pattern beside the thread that reads requests: expressions can take their time.
    ///
    /// # Errors
    /// When there is no pattern, or it is wrong or too long.
    pub(super) async fn compile(
        pattern: Option<String>,
        heads: HeadRules,
        once: bool,
    ) -> std::result::Result<Self, Refusal> {
        let none = || Refusal::bad("a pattern is missing: add one such as pattern=NP+%3C+NN");
        let text = pattern.filter(|text| !text.trim().is_empty()).ok_or_else(none)?;
        if text.len() > MAX_PATTERN {
            let problem = format!("the pattern has more than {MAX_PATTERN} bytes: make it shorter");
            return Err(Refusal::bad(problem));
        }
        let compiled = tokio::task::spawn_blocking(move || Pattern::parse(&text)).await;
        let pattern = compiled.map_err(|_| Refusal::defect())?;
        let pattern = pattern.map_err(|error| Refusal::bad(error.to_string()))?;
        Ok(Self { pattern, heads, once })
    }

    /// Calls `write` with every match in a tree, until there is too much of it in `out`.
    ///
    /// # Errors
    /// When the search takes too long or finds too much.
    pub(super) fn write_all(
        &self,
        tree: &Tree,
        out: &mut Vec<u8>,
        mut write: impl FnMut(usize, &Match<'_>, &mut Vec<u8>),
    ) -> Result<()> {
        let searcher = Searcher::new(&self.pattern).with_heads(&self.heads).once(self.once);
        let (start, mut count, mut is_too_much) = (out.len(), 0, false);
        searcher.within(MAX_STEPS).for_each(tree, |found| -> ControlFlow<()> {
            is_too_much = count == MAX_MATCHES || out.len() - start > MAX_BYTES;
            if is_too_much {
                return Break(());
            }
            write(count, &found, out);
            count += 1;
            Continue(())
        })?;
        if is_too_much {
            let problem = format!(
                "more than {MAX_MATCHES} matches, or {} MB of them, in one tree: make the pattern narrower",
                MAX_BYTES >> 20
            );
            return Err(Error::config("pattern", problem));
        }
        Ok(())
    }
}
