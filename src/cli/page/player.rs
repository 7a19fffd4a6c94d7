//! Pages that play derivations step by step, one line of data for each sentence.

use askama::Template;
use serde::Serialize;

use super::TREE_SCRIPT;
use crate::inspect::derivation::Derivation;
use crate::inspect::trace::Trace;

/// A page with players.
#[derive(Template)]
#[template(path = "player.html")]
pub(in crate::cli) struct PlayerPage {
    title: String,
    tree_script: &'static str,
    script: &'static str,
}

impl PlayerPage {
    pub(in crate::cli) fn new(title: String) -> Self {
        Self { title, tree_script: TREE_SCRIPT, script: include_str!("player.js") }
    }
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
