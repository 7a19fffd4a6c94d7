//! The program as users run it.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

#[path = "../common/command.rs"]
#[allow(dead_code, unreachable_pub)]
mod command;
#[path = "../common/http.rs"]
#[allow(dead_code, unreachable_pub)]
mod http;

mod absurd;
mod compare;
mod crossval;
mod diff;
mod encoder;
mod eval;
mod eval_own;
mod experiment;
mod find;
mod general;
mod help_examples;
mod init;
mod inputs;
#[cfg(unix)]
mod interrupts;
#[cfg(unix)]
mod kills;
mod mean;
#[cfg(target_os = "linux")]
mod memory;
mod misfits;
mod models;
#[cfg(unix)]
mod outputs;
mod own_formats;
mod parse;
mod pipes;
#[cfg(unix)]
mod replaced_model;
#[cfg(unix)]
mod resume;
#[cfg(all(unix, feature = "serve"))]
mod serve;
#[cfg(all(unix, feature = "serve"))]
mod serve_corenlp;
#[cfg(unix)]
mod stderr;
mod stumbles;
mod tag;
mod text;
mod trace;
mod treebank_profiles;
mod unbalanced;
mod words;
