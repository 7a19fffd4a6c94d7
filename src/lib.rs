//! Linear-time shift-reduce constituency parsing: training, parsing, evaluation.
//!
//! The layers, from the bottom up; each uses only what is below it:
//!
//! - [`error`] and [`memory`]: the one error type; arrays that are owned or read in place.
//! - `parallel`: work on all cores, with results in order.
//! - [`neural`]: neural networks on one CPU, which know nothing of parsing.
//! - [`tree`]: arena trees, head rules, binarization, dependencies, drawings.
//! - [`symbols`]: strings to numbers and back; sentences in numbers.
//! - [`treebank`]: bytes to trees and back, streaming; cleaning.
//! - [`transition`]: the rules of parsers: states, actions, what they do.
//! - [`oracle`]: what to do in a state, given the tree that should come out.
//! - [`feature`]: templates, rows of columns, one-hot indicators.
//! - [`classifier`]: learners and what they fit, from rows to scores.
//! - [`scorer`]: what a decoder asks about a state and its actions.
//! - [`model`]: what training stores and parsing loads.
//! - [`decode`]: from a sentence to the derivation a scorer likes best.
//! - [`train`]: instances from gold derivations; learning while parsing.
//! - [`tagger`]: part-of-speech taggers.
//! - [`eval`]: PARSEVAL scores as EVALB's, and beyond.
//! - [`preset`]: everything that makes a parser, in a text file; training and loading by it.
//! - [`cli`]: the commands.
//!
//! Training on the sample treebank, and parsing with the result:
//!
//! ```
//! use srparse::preset::{Preset, fit, load, plan::Plan};
//! use srparse::tree::Token;
//! use srparse::treebank::{ReadOptions, read_all};
//!
//! # fn main() -> srparse::Result<()> {
//! let plan = Plan::new(Preset::load("fast", &["epochs=3".to_owned()])?)?;
//! let (trees, _report) = read_all(&["data/sample/train.mrg".into()], &ReadOptions::default())?;
//! let train = fit::TreeSet { files: vec!["train.mrg".to_owned()], trees };
//! let watch = fit::Watch::new(&srparse::observer::Silent);
//! let model = fit::fit(&plan, &train, &fit::TreeSet::default(), 1, &watch)?;
//!
//! let parser = load::load(&model, &[])?;
//! let sentence = [Token::new("The", "DT"), Token::new("baker", "NN"), Token::new("sings", "VBZ")];
//! let parse = parser.worker().parse(&sentence);
//! assert_eq!(parse.tree.tokens(), sentence);
//! # Ok(())
//! # }
//! ```

mod built_in;
pub mod classifier;
#[cfg(feature = "cli")]
pub mod cli;
pub mod decode;
pub mod error;
pub mod eval;
pub mod feature;
mod hash;
pub mod memory;
pub mod model;
pub mod neural;
pub mod observer;
pub mod oracle;
mod output;
mod parallel;
pub mod preset;
pub mod scorer;
pub mod symbols;
pub mod tagger;
pub mod train;
pub mod transition;
pub mod tree;
pub mod treebank;

pub use error::{Error, Place, Result};
