//! Doubles: small stand-ins for systems, scorers, learners and decoders that the program does not have
//! yet, to show that its seams carry them.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)] // helpers of tests are tests

pub mod recurrent;
pub mod sets;
pub mod two_stage;
