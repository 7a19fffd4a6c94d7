//! Analyses of what a model does along derivations: decisions step by step, classification accuracy, margins.

pub mod beam;
pub mod decisions;
pub mod derivation;
mod feature_text;
pub mod margins;
pub mod trace;
