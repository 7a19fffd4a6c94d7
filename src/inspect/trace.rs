//! What a model does with a sentence, step by step: the actions it ranks, what decided between the best two, and, with a
//! gold tree, what the oracle says.

use serde::Serialize;

use super::beam::{self, BeamTrace};
use super::derivation::Derivation;
use super::feature_text::FeatureText;
use crate::classifier::Evidence;
use crate::decode::beam::{Agenda, Beam};
use crate::decode::{Cursor, Decoded, Problem};
use crate::feature::{Row, Templates};
use crate::oracle::{OracleKind, oracle};
use crate::parser::Worker;
use crate::scorer::Reading;
use crate::sort::stable_sort_by;
use crate::symbols::Vocabulary;
use crate::transition::{Action, Forest, Oracle};
use crate::tree::{Token, Tree};

/// How many features a decision lists.
const FEATURES: usize = 10;

/// A derivation that a model has found.
#[derive(Debug, Clone, Serialize)]
pub struct Trace {
    /// The configurations, each with its decision.
    #[serde(flatten)]
    pub derivation: Derivation,
    /// The score of the derivation.
    pub score: f64,
    /// Whether the derivation is complete.
    pub complete: bool,
    /// Why the gold tree cannot be followed, if there is one that the system cannot build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
    /// The step, from 0, of the first action that leaves the gold path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_gold: Option<usize>,
    /// The hypotheses of the beam, if the search had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beam: Option<BeamTrace>,
}

/// A decision of a model.
#[derive(Debug, Clone, Serialize)]
pub struct Decision {
    /// The best actions of the inventory, the best first, and the one taken.
    pub ranked: Vec<Ranked>,
    /// The number of legal actions; with one there is no choice.
    pub legal: usize,
    /// The reasons for the action taken over the best of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Reasons>,
    /// The correct actions, if there is a gold tree and the oracle knows them here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub correct: Vec<String>,
}

/// An action with its score.
#[derive(Debug, Clone, Serialize)]
pub struct Ranked {
    /// The action.
    pub action: String,
    /// Its score, on the scale of the model; none if the model never chooses it.
    pub score: Option<f32>,
    /// Whether it is legal.
    pub legal: bool,
    /// Whether it is the one taken.
    pub taken: bool,
    /// How much it adds to the loss by the dynamic oracle: gold brackets that cannot be built any more and wrong ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u32>,
}

/// The reasons for a decision.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reasons {
    /// The features of a linear or polynomial model with the largest contributions to the lead over the rival.
    Weights(Vec<Contribution>),
    /// The features on the path through a decision tree, from the root.
    Path(Vec<String>),
    /// The boosted trees with the largest confidences, positive or negative, for the action taken.
    Trees(Vec<TreeLeaf>),
    /// The nearest training rows of memory-based learning.
    Neighbours(Vec<Neighbour>),
    /// The preference of each member of an ensemble.
    Members(Vec<Member>),
}

/// A boosted tree.
#[derive(Debug, Clone, Serialize)]
pub struct TreeLeaf {
    /// The confidence of the leaf that is reached.
    pub confidence: f32,
    /// The tests that hold on the path to it.
    pub tests: Vec<String>,
}

/// A member of an ensemble.
#[derive(Debug, Clone, Serialize)]
pub struct Member {
    /// The action that it prefers.
    pub action: String,
    /// The score of that, on the scale of the member; none if it is infinite.
    pub score: Option<f32>,
    /// Whether a meta-classifier follows this member.
    pub followed: bool,
}

/// A feature of a linear or polynomial model.
#[derive(Debug, Clone, Serialize)]
pub struct Contribution {
    /// The template with its values, or two of them joined by `×`.
    pub feature: String,
    /// The weight for the action taken.
    pub weight: f32,
    /// The weight for the rival.
    pub rival: f32,
}

/// A training row.
#[derive(Debug, Clone, Serialize)]
pub struct Neighbour {
    /// Its distance.
    pub distance: f64,
    /// The numbers of its instances by action.
    pub actions: Vec<(String, u32)>,
}

/// The sentence to trace.
#[derive(Clone, Copy)]
pub struct TraceRequest<'a> {
    /// The sentence. Tags may be missing if the parser predicts them.
    pub tokens: &'a [Token],
    /// Its gold tree, head-marked where the system needs heads.
    pub gold: Option<&'a Tree>,
    /// How many actions are listed at each step.
    pub best: usize,
    /// The templates of the model.
    pub templates: &'a Templates,
}

/// Parses a sentence and returns each decision on the way; `beam` is the beam of the search, if it has one.
pub fn trace(
    worker: &mut Worker<'_>,
    request: &TraceRequest<'_>,
    (beam, vocabulary): (&Beam, &Vocabulary),
) -> Trace {
    let mut beams = Vec::new();
    let mut observe = |agenda: &Agenda| beams.push(beam::snapshot(agenda));
    let (input, decoded) = worker.decode_observed(request.tokens, 1, &mut observe);
    let request = TraceRequest { tokens: &input.cleaned.tokens, ..*request };
    let (problem, reading) = worker.problem();
    let found = &decoded[0];
    let beam = BeamTrace::new((problem.system, beam), &beams, &found.actions, request.best);
    Trace { beam, ..follow(problem, found, (&request, vocabulary), reading) }
}

/// Follows a derivation that a search has found.
fn follow(
    problem: Problem<'_>,
    decoded: &Decoded,
    (request, vocabulary): (&TraceRequest<'_>, &Vocabulary),
    reading: &mut dyn Reading,
) -> Trace {
    let prepared = request.gold.map(|gold| oracle(problem.system, gold, OracleKind::DynamicIfAny));
    let (gold, unfit) = match prepared {
        Some(Ok(gold)) => (Some(gold), None),
        Some(Err(error)) => (None, Some(error.to_string())),
        None => (None, None),
    };
    let mut tracer =
        Tracer { problem, request, vocabulary, gold: gold.as_deref(), left_gold: None, step: 0 };
    let path = (request.tokens, &decoded.actions[..]);
    let derivation = Derivation::follow(problem, path, reading, |at, action, reading| {
        Some(tracer.decision(at, action, reading))
    });
    let left_gold = tracer.left_gold;
    let &Decoded { score, complete, .. } = decoded;
    Trace { derivation, score, complete, unfit, left_gold, beam: None }
}

/// A position in the derivation, with what has been built.
type Here<'a> = (&'a Cursor, &'a Forest);

/// What stays the same along the derivation, and where it left the gold path.
struct Tracer<'a> {
    problem: Problem<'a>,
    request: &'a TraceRequest<'a>,
    vocabulary: &'a Vocabulary,
    gold: Option<&'a dyn Oracle>,
    left_gold: Option<usize>,
    step: usize,
}

impl Tracer<'_> {
    fn decision(&mut self, here: Here<'_>, taken: Action, reading: &mut dyn Reading) -> Decision {
        let (cursor, forest) = here;
        let (mut inventory, mut legal, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        self.problem.system.inventory(&cursor.state, forest, &mut inventory);
        cursor.legal(self.problem, forest, &mut legal);
        // A system without candidates lists an action once, whether it is legal or not.
        inventory.extend(
            legal.iter().copied().filter(|action| !inventory.contains(action)).collect::<Vec<_>>(),
        );
        cursor.scores(self.problem, forest, &inventory, reading, &mut scores);
        let mut ranked: Vec<(Action, f32)> = inventory.into_iter().zip(scores).collect();
        stable_sort_by(&mut ranked, |(_, a), (_, b)| b.total_cmp(a));
        let rival = ranked.iter().map(|&(action, _)| action);
        let rival = rival.filter(|action| *action != taken).find(|action| legal.contains(action));
        let reasons = rival.and_then(|rival| self.reasons(here, [taken, rival], reading));
        let correct = self.correct(here, taken);
        let rank = ranked.iter().position(|&(action, _)| action == taken).unwrap_or(0);
        let listed = ranked.iter().take(self.request.best);
        let listed = listed.chain((rank >= self.request.best).then(|| &ranked[rank]));
        let ranked = listed.map(|&(action, score)| {
            let legal = legal.contains(&action);
            Ranked {
                action: self.problem.system.name(action),
                score: Some(score).filter(|score| score.is_finite()),
                legal,
                taken: action == taken,
                cost: if legal { self.cost(here, action) } else { None },
            }
        });
        let ranked = ranked.collect();
        self.step += 1;
        Decision { ranked, legal: legal.len(), reasons, correct }
    }

    /// The correct actions; notes when the derivation leaves the gold path.
    fn correct(&mut self, (cursor, forest): Here<'_>, taken: Action) -> Vec<String> {
        let system = self.problem.system;
        let Some(gold) = self.gold else { return Vec::new() };
        // A static oracle knows nothing off the gold path.
        if self.left_gold.is_some() && gold.loss(&cursor.state, forest).is_none() {
            return Vec::new();
        }
        let mut optimal = Vec::new();
        gold.optimal(&cursor.state, forest, &mut optimal);
        if self.left_gold.is_none() && !optimal.contains(&taken) {
            self.left_gold = Some(self.step);
        }
        optimal.into_iter().map(|action| system.name(action)).collect()
    }

    fn cost(&self, (cursor, forest): Here<'_>, action: Action) -> Option<u32> {
        let (gold, system) = (self.gold?, self.problem.system);
        let before = gold.loss(&cursor.state, forest)?;
        let (mut state, mut forest) = (cursor.state.clone(), forest.clone());
        system.apply(&mut state, &mut forest, action);
        Some(gold.loss(&state, &forest)?.saturating_sub(before))
    }

    fn reasons(
        &self,
        (cursor, forest): Here<'_>,
        actions: [Action; 2],
        reading: &mut dyn Reading,
    ) -> Option<Reasons> {
        let at = cursor.at(self.problem, forest);
        let (evidence, row) = reading.evidence(at, actions)?;
        let system = self.problem.system;
        let text = FeatureText::new(self.request.templates, self.vocabulary, |label| {
            system.label_name(label).to_owned()
        });
        let mut inventory = Vec::new();
        system.inventory(&cursor.state, forest, &mut inventory);
        let name = |class: u16| {
            let action = inventory.get(usize::from(class));
            action.map_or_else(String::new, |&action| system.kind_name(action))
        };
        Some(match evidence {
            Evidence::Scores => return None,
            Evidence::Weights(weights) => Reasons::Weights(contributions(weights, &row, &text)),
            Evidence::Path(columns) => {
                let columns = columns.into_iter();
                Reasons::Path(columns.map(|column| text.column(column, &row)).collect())
            }
            Evidence::Leaves(leaves) => Reasons::Trees(confident(leaves, &text)),
            Evidence::Neighbours(rows) => {
                let neighbour = |(distance, classes): (f64, Vec<(u16, u32)>)| Neighbour {
                    distance,
                    actions: classes.into_iter().map(|(class, n)| (name(class), n)).collect(),
                };
                Reasons::Neighbours(rows.into_iter().map(neighbour).collect())
            }
            Evidence::Members(choices, followed) => {
                let member = |(at, (class, score)): (usize, (u16, f32))| Member {
                    action: name(class),
                    score: Some(score).filter(|score| score.is_finite()),
                    followed: followed == Some(at),
                };
                Reasons::Members(choices.into_iter().enumerate().map(member).collect())
            }
        })
    }
}

/// The features with the largest contributions to the difference.
fn contributions(
    mut weights: Vec<(Vec<u16>, [f32; 2])>,
    row: &Row,
    text: &FeatureText<'_>,
) -> Vec<Contribution> {
    let gap = |[own, rival]: [f32; 2]| (own - rival).abs();
    stable_sort_by(&mut weights, |&(_, a), &(_, b)| gap(b).total_cmp(&gap(a)));
    let largest = weights.into_iter().filter(|(_, [own, rival])| own != rival).take(FEATURES);
    let contribution = |(templates, [weight, rival]): (Vec<u16>, [f32; 2])| {
        let templates: Vec<String> =
            templates.into_iter().map(|template| text.template(template, row)).collect();
        Contribution { feature: templates.join(" × "), weight, rival }
    };
    largest.map(contribution).collect()
}

/// The leaves with the largest confidences, positive or negative.
fn confident(mut leaves: Vec<(f32, Vec<(u16, u32)>)>, text: &FeatureText<'_>) -> Vec<TreeLeaf> {
    stable_sort_by(&mut leaves, |(a, _), (b, _)| b.abs().total_cmp(&a.abs()));
    let leaf = |(confidence, tests): (f32, Vec<(u16, u32)>)| TreeLeaf {
        confidence,
        tests: tests.into_iter().map(|(column, value)| text.test(column, value)).collect(),
    };
    leaves.into_iter().take(FEATURES).map(leaf).collect()
}
