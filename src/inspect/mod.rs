//! Analyses of what a model does along derivations: decisions step by step, classification accuracy, margins.

pub mod beam;
pub mod decisions;
pub mod derivation;
mod feature_text;
pub mod margins;
pub mod trace;

use self::decisions::{DecisionCounts, Followed};
use self::margins::Margins;
use self::trace::{Trace, TraceRequest};
use crate::error::{Error, Result};
use crate::oracle::{Example, OracleKind};
use crate::parallel;
use crate::parser::Parser;
use crate::tree::{Token, Tree};

impl Parser {
    /// Classification accuracy along the gold derivations of trees; see [`crate::inspect`].
    #[doc(hidden)]
    pub fn decisions(&self, trees: Vec<Tree>) -> DecisionCounts {
        DecisionCounts::of(&self.each_decision(trees))
    }

    /// The decisions along the gold derivation of each tree, in order; trees without words are left out.
    pub(crate) fn each_decision(&self, trees: Vec<Tree>) -> Vec<Followed> {
        // More than one candidate may be correct.
        let several = self.system.has_candidates();
        let kind = if several { OracleKind::DynamicIfAny } else { OracleKind::Static };
        decisions::decisions(&*self.system, &*self.scorer, kind, &self.examples(trees))
    }

    /// The margins of the candidates of a label along the gold derivations of trees; see
    /// [`crate::inspect`].
    ///
    /// # Errors
    /// When the model does not score candidates, or the label is unknown.
    #[doc(hidden)]
    pub fn margins(&self, trees: Vec<Tree>, label: &str) -> Result<Margins> {
        if !self.system.has_candidates() {
            let problem = "the model scores actions rather than candidates: give a model with \
                           system.kind = \"items\"";
            return Err(Error::config("margins", problem));
        }
        margins::margins(&*self.system, &*self.scorer, &self.examples(trees), label)
    }

    /// Parses a sentence and returns each decision on the way, with at most `best` actions; see [`crate::inspect`]. With
    /// the gold tree of the sentence, the oracle says which actions are correct. Tokens without tags are tagged first.
    ///
    /// # Errors
    /// As [`Parser::parse`].
    #[doc(hidden)]
    pub fn trace(&self, tokens: &[Token], gold: Option<Tree>, best: usize) -> Result<Trace> {
        let tagged = self.worker().tagged(tokens)?;
        let tokens = tagged.as_deref().unwrap_or(tokens);
        let gold =
            gold.and_then(|gold| Some(self.plan.cleaned(self.plan.preset.clean.strip(gold)?).0));
        let gold = gold.as_ref();
        let request = TraceRequest { tokens, gold, best, templates: &self.plan.templates };
        let beam = self.plan.preset.search.beam();
        Ok(trace::trace(&mut self.untagged_worker(), &request, (&beam, &self.vocabulary)))
    }

    /// Trees as the parser sees them: cleaned, head-marked, encoded; trees without words are left out.
    fn examples(&self, trees: Vec<Tree>) -> Vec<Example> {
        let example = |tree: Tree| {
            let (tree, _) = self.plan.cleaned(self.plan.preset.clean.strip(tree)?);
            Some(Example { sentence: self.vocabulary.encode(tree.tokens()), tree })
        };
        let mut examples: Vec<Example> =
            parallel::map_owned(trees, example).into_iter().flatten().collect();
        examples.retain(|example| !example.sentence.is_empty());
        examples
    }
}
