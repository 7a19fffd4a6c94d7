//! Linear-time shift-reduce constituency parsing: training, parsing, evaluation.
//!
//! ```
//! # #[cfg(feature = "train")]
//! # fn main() -> srparse::Result<()> {
//! use srparse::{Parser, Preset, Threads, Token, Trainer, Treebank};
//!
//! // Train on trees, by a preset.
//! let train = Treebank::open("data/sample/train.mrg")?;
//! let preset = Preset::load("fast", &["epochs=3".to_owned()])?;
//! let model = Trainer::with_preset(preset)?.seed(1).train(&train, &Treebank::default())?;
//!
//! // Parse tagged words. A parser is shared by all threads.
//! let parser = Parser::new(&model, &[])?;
//! let sentence = vec![Token::new("The", "DT"), Token::new("baker", "NN"), Token::new("sings", "VBZ")];
//! let parse = parser.parse(&sentence)?;
//! assert_eq!(parse.tree.tokens(), sentence);
//! let parses = parser.parse_batch(&[sentence.clone(), sentence], Threads(2))?;
//! assert_eq!(parses[0].tree.to_string(), parses[1].tree.to_string());
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "train"))]
//! # fn main() {}
//! ```
//!
//! # Inside
//! The public surface is what these pages list. The other modules are open to the command, the tests and the
//! benchmarks only, and may change with every version. From the bottom up, each uses only what is below it:
//!
//! - `error`, `observer`, `parallel`, `sort`, `memory`: errors; events of long work; work on all cores; sorting; arrays
//!   that are owned or memory-mapped.
//! - `pieces`, `neural`, `checkpoint`: words as pieces; networks on one CPU, which know nothing of parsing; pretrained
//!   encoders from the folders in which users have them.
//! - `tree`: trees, head rules, binarization.
//! - `find`: tree search, and rules that change trees.
//! - `symbols`, `text`, `treebank`: strings as numbers; raw text as sentences of words; reading, writing, cleaning.
//! - `transition`, `oracle`: the transition systems, each with its dynamic oracle; static oracles.
//! - `feature`, `classifier`: templates to rows of columns; rows to scores of classes.
//! - `encoder`, `scorer`: sentences to hidden states, which knows nothing of trees; configurations to scores of actions.
//! - `model`: what training stores and parsing loads.
//! - `decode`: greedy, beam and best-first search. A `decode::Cursor` takes the actions, here and in
//!   everything above.
//! - `eval`: PARSEVAL scores as EVALB's, dependencies, significance.
//! - `tagger`: part-of-speech taggers.
//! - `preset`: everything that makes a parser, in a text file; the one `match` on systems and on scorers.
//! - `parser`: `Parser` and `Tagger`, straight from a model.
//! - `inspect`: what a model does, step by step; how often it is right on the way to gold trees.
//! - `train`: `Trainer`, and the five ways to train a scorer. A cargo feature, which nothing below or beside it knows.
//! - `parse_request`, `found`: what is asked of a parser for each sentence, and the answer as JSON; a match of a tree search
//!   as JSON.
//! - `web`: a C interface for WebAssembly.
//! - `serve`: an HTTP server of parsers.
//! - `experiment`: many trainings and evaluations, and their results.
//! - `cli`: the commands.
//!
//! # Values, not type parameters
//! Everything above the transition systems knows them as `dyn TransitionSystem`, with one `State`, one `Forest` and one
//! `Action` for all. An action is its position among the actions of its system, which is also the class that a scorer
//! gives a score: what it does, the system keeps to itself. So decoders, training and analyses are compiled once. Scorers,
//! classifiers and oracles are trait objects too: these are called a few times per action, which costs nothing measurable
//! against the thousands of instructions of a score. Parallel work goes through one function that takes a closure as a
//! trait object. Settings are read through one deserializer.

// `println!` and `eprintln!` panic when the stream is closed.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod built_in;
mod by_kind;
#[doc(hidden)]
pub mod checkpoint;
#[doc(hidden)]
pub mod classifier;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod decode;
#[doc(hidden)]
pub mod encoder;
pub mod error;
mod escapes;
pub mod eval;
#[cfg(feature = "train")]
#[doc(hidden)]
pub mod experiment;
#[doc(hidden)]
pub mod feature;
pub mod find;
#[doc(hidden)]
pub mod found;
mod hash;
#[doc(hidden)]
pub mod inspect;
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod neural;
pub mod observer;
#[doc(hidden)]
pub mod oracle;
mod output;
mod parallel;
#[doc(hidden)]
pub mod parse_request;
#[doc(hidden)]
pub mod parser;
#[doc(hidden)]
pub mod pieces;
#[doc(hidden)]
pub mod preset;
#[doc(hidden)]
pub mod scorer;
#[cfg(feature = "serve")]
#[doc(hidden)]
pub mod serve;
mod sort;
#[doc(hidden)]
pub mod symbols;
#[doc(hidden)]
pub mod tagger;
pub mod text;
mod text_file;
#[cfg(feature = "train")]
#[doc(hidden)]
pub mod train;
#[doc(hidden)]
pub mod transition;
pub mod tree;
#[doc(hidden)]
pub mod treebank;
#[cfg(feature = "web")]
mod web;

pub use error::{Error, Place, Result};
pub use model::Model;
pub use observer::{Event, Observer};
pub use parser::{NbestRequest, Parse, Parser, ParserWorker, Tagger, Threads};
pub use preset::Preset;
#[doc(hidden)]
pub use preset::TreebankProfile;
#[cfg(feature = "train")]
pub use train::Trainer;
pub use tree::{Token, Tree};
pub use treebank::{Encoding, ReadOptions, ReadReport, Treebank};
