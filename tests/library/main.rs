//! The library, without the program.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/tiny.rs"]
#[allow(dead_code, unreachable_pub)]
mod tiny;

mod distillation;
mod ensemble;
mod eval_properties;
mod everyday;
mod facade;
mod figures;
mod initial_model;
mod items;
mod items_model;
mod layers;
mod learners;
mod model_contents;
mod neural;
mod presets;
mod reproducibility;
mod sample;
mod search;
mod training;
mod treebank;
