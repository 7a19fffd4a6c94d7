//! Pages that play derivations step by step, one line of data for each sentence.

use askama::Template;
use serde::Serialize;

use crate::inspect::derivation::Derivation;
use crate::inspect::trace::Trace;

/// A page with players.
#[derive(Template)]
#[template(path = "player.html")]
pub(in crate::cli) struct PlayerPage {
    pub(in crate::cli) title: String,
}

/// The derivations of a sentence, side by side.
#[derive(Serialize)]
pub(in crate::cli) struct Players<D> {
    pub(in crate::cli) systems: Vec<Played<D>>,
}

/// A derivation, or why there is none.
#[derive(Serialize)]
pub(in crate::cli) struct Played<D> {
    /// The name of the preset, if there are several.
    pub(in crate::cli) name: String,
    #[serde(flatten)]
    pub(in crate::cli) trace: Option<D>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) problem: Option<String>,
}

/// A derivation that a model has decided on.
pub(in crate::cli) type PlayedTrace = Played<Trace>;
/// The derivation of a gold tree.
pub(in crate::cli) type PlayedGold = Played<Derivation>;
