//! The search settings of presets, and the decoder that they select.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::beam::{Agenda, Beam};
use super::best_first::{BestFirst, BestFirstScratch, Unfinished};
use super::greedy::{Greedy, GreedyScratch};
use super::{Decoded, Illegal, PathScore, Problem};
use crate::scorer::Reading;

/// The decoder.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One hypothesis, the best action at every step.
    #[default]
    Greedy,
    /// The best k hypotheses at every step.
    Beam,
    /// Always the best of all open hypotheses.
    BestFirst,
}

/// What follows a failed greedy search.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// Nothing: the parse is the partial tree.
    #[default]
    None,
    /// The sentence is parsed again with beam search (Kalt 2004, section 5).
    Beam,
}

/// The maximum number of actions that best-first search scores for a sentence. Sentences of 15 words, the longest for which
/// it was published, need at most a fifth of this number.
const MAX_SCORED: usize = 100_000_000;

/// The maximum number of hypotheses of a beam.
pub(crate) const MAX_BEAM: usize = 4096;

/// Search settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// The decoder.
    pub method: Method,
    /// The beam size: the maximum number of hypotheses.
    #[schemars(range(min = 1, max = MAX_BEAM))]
    pub beam: u32,
    /// A hypothesis of a beam is dropped if its score trails the best one by more than this; 0 for no
    /// threshold. Most decisions are clear, and a narrower beam is faster there.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub threshold: f64,
    /// Maximum number of hypotheses that best-first search expands; lower for sentences of many hundred
    /// words.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub max_states: u32,
    /// Maximum number of open steps in best-first search; 0 for the memory limit alone, 1 million.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub agenda: u32,
    /// What best-first search returns once it has expanded max_states hypotheses.
    pub unfinished: Unfinished,
    /// What greedy search does when the best action is illegal; the other decoders consider legal actions
    /// only.
    pub illegal: Illegal,
    /// What follows a failed greedy search.
    pub fallback: Fallback,
    /// How step scores combine into the score of a parse.
    pub path_score: PathScore,
    /// The label of the node that joins the components of a failed parse and all unread words: `IP` in
    /// Wang, Sagae and Mitamura 2006, section 2, `fail` in Kalt 2004, section 3.1. Empty to leave them side
    /// by side under `TOP`, as Sagae and Lavie 2005 do. Any label is possible, whether or not it occurs in
    /// the training trees. A single component is not joined.
    #[schemars(with = "String")]
    pub failure_label: CompactString,
    /// The temperature of the scores of constituents that are probabilities: their log odds are divided by it. Those of
    /// an action alone are too high for a constituent, since the path to it may be wrong.
    #[serde(skip_serializing_if = "is_default_temperature")]
    #[schemars(range(min = 0.1, max = 100.0))]
    pub temperature: f32,
}

/// Calibrates networks: the expected calibration error of eight, of six languages, is 0.8 to 3.9 % instead of 7.3 to 10.3 %
/// (docs/data/calibration.tsv).
const TEMPERATURE: f32 = 2.5;

fn is_default_temperature(temperature: &f32) -> bool {
    *temperature == TEMPERATURE
}

impl Default for Search {
    fn default() -> Self {
        Self {
            method: Method::default(),
            beam: 16,
            threshold: 0.0,
            max_states: 10_000,
            agenda: 0,
            unfinished: Unfinished::default(),
            illegal: Illegal::default(),
            fallback: Fallback::default(),
            path_score: PathScore::default(),
            failure_label: CompactString::default(),
            temperature: TEMPERATURE,
        }
    }
}

impl Search {
    /// Whether the search compares paths, so that the scores of steps must be additive.
    pub fn compares_paths(&self) -> bool {
        self.method != Method::Greedy || self.fallback != Fallback::None
    }

    /// The beam decoder with these settings.
    pub fn beam(&self) -> Beam {
        let (width, threshold) = (self.beam as usize, self.threshold);
        Beam { width, threshold, path_score: self.path_score }
    }

    /// The beam decoder for the best `n` derivations: for several the beam has room for all of them, up to
    /// [`MAX_BEAM`], and no threshold drops them.
    fn beam_for(&self, n: usize) -> Beam {
        let beam = self.beam();
        if n <= 1 {
            return beam;
        }
        Beam { width: beam.width.max(n.min(MAX_BEAM)), threshold: 0.0, ..beam }
    }

    fn greedy(&self) -> Greedy {
        Greedy { illegal: self.illegal, path_score: self.path_score }
    }

    fn best_first(&self) -> BestFirst {
        BestFirst {
            max_states: self.max_states as usize,
            max_scored: MAX_SCORED,
            agenda: if self.agenda == 0 { usize::MAX } else { self.agenda as usize },
            unfinished: self.unfinished,
            path_score: self.path_score,
        }
    }
}

/// Scratch memory of one thread.
#[derive(Default)]
pub struct SearchScratch {
    greedy: GreedyScratch,
    beam: Agenda,
    best_first: BestFirstScratch,
}

impl Search {
    /// Returns the best `n` derivations found, best first; at least one. Greedy search returns one.
    pub fn decode(
        &self,
        problem: Problem<'_>,
        n: usize,
        reading: &mut dyn Reading,
        scratch: &mut SearchScratch,
    ) -> Vec<Decoded> {
        self.decode_observed(problem, n, (reading, scratch), &mut |_| ())
    }

    /// Decodes; calls `observe` after every step of a beam.
    pub fn decode_observed(
        &self,
        problem: Problem<'_>,
        n: usize,
        (reading, scratch): (&mut dyn Reading, &mut SearchScratch),
        observe: &mut dyn FnMut(&Agenda),
    ) -> Vec<Decoded> {
        let SearchScratch { greedy, beam, best_first } = scratch;
        match self.method {
            Method::Greedy => {
                let decoded = self.greedy().decode(problem, greedy, reading);
                if decoded.complete || self.fallback == Fallback::None {
                    return vec![decoded];
                }
                self.beam_for(n).decode(problem, n, (beam, reading), observe)
            }
            Method::Beam => self.beam_for(n).decode(problem, n, (beam, reading), observe),
            Method::BestFirst => self.best_first().decode(problem, n, best_first, reading),
        }
    }
}
