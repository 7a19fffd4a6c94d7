//! Analyses of what a model does along derivations: decisions step by step, classification accuracy, margins.
//!
//! [`Loaded`] makes them available for a parser, whatever its transition system.

pub mod beam;
pub mod decisions;
pub mod derivation;
mod feature_text;
pub mod margins;
pub mod trace;

use crate::Result;
use crate::decode::beam::Agenda;
use crate::decode::parser::{Pipeline, Worker};
use crate::error::Error;
use crate::oracle::{GuideKind, Supervised};
use crate::symbols::Label;
use crate::train::Example;
use crate::transition::TransitionSystem;
use beam::BeamTrace;
use decisions::Followed;
use margins::Margins;
use trace::{Trace, TraceRequest};

/// A loaded parser with analyses of its model.
pub trait Loaded: Send + Sync {
    /// A worker for one thread.
    fn worker(&self) -> Box<dyn Worker + '_>;
    /// The decisions along gold derivations ([`decisions`]). If the guide has several optimal actions, any of them is
    /// correct.
    fn decisions(&self, examples: &[Example], guide: GuideKind) -> Vec<Followed>;
    /// Returns the margins of the candidates of a label ([`margins`]).
    ///
    /// # Errors
    /// If the model does not have the label.
    fn margins(&self, examples: &[Example], label: &str) -> Result<Margins>;
    /// Parses a sentence and returns each decision on the way ([`trace`]).
    fn trace(&self, request: &TraceRequest<'_>) -> Trace;
}

impl<S: Supervised> Loaded for Pipeline<S> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(self.worker())
    }

    fn decisions(&self, examples: &[Example], guide: GuideKind) -> Vec<Followed> {
        decisions::decisions(&self.system, &*self.scorer, guide, examples)
    }

    fn margins(&self, examples: &[Example], label: &str) -> Result<Margins> {
        let Some(position) = TransitionSystem::labels(&self.system).position(|name| name == label)
        else {
            let known = TransitionSystem::labels(&self.system).collect::<Vec<_>>().join(", ");
            let problem = format!("unknown label `{label}`: the labels of the model are {known}");
            return Err(Error::config("margins", problem));
        };
        let label = Label(position as u16);
        Ok(margins::margins(&self.system, &*self.scorer, examples, label))
    }

    fn trace(&self, request: &TraceRequest<'_>) -> Trace {
        let mut worker = self.worker();
        let mut beams = Vec::new();
        let mut observe = |agenda: &Agenda<S>| beams.push(beam::snapshot(agenda));
        let (input, decoded) = worker.decode_observed(request.tokens, 1, &mut observe);
        let request = TraceRequest { tokens: &input.cleaned.tokens, ..*request };
        let beam = BeamTrace::new(
            (&self.system, &self.search.beam()),
            &beams,
            &decoded[0].actions,
            request.best,
        );
        let (problem, scratch) = worker.problem();
        let trace = trace::trace(problem, &decoded[0], (&request, &self.vocabulary), scratch);
        Trace { beam, ..trace }
    }
}
