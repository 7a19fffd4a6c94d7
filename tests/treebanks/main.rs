//! Real treebanks, in the folder that `SRPARSE_TREEBANKS` names; with `SRPARSE_REQUIRE_TREEBANKS` a missing one is a
//! failure.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::path::PathBuf;

#[path = "../common/mod.rs"]
mod common;

mod evalb;
mod heads;
mod languages;
mod parsing;
mod raw_text;
mod reading;
mod tregex;

/// A file or folder of the treebanks; `None`, and the test passes, where there are none and none is required.
fn treebank(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("SRPARSE_TREEBANKS").map(|folder| PathBuf::from(folder).join(name));
    let path = path.filter(|path| path.exists());
    assert!(
        path.is_some() || std::env::var_os("SRPARSE_REQUIRE_TREEBANKS").is_none(),
        "SRPARSE_REQUIRE_TREEBANKS is set and there is no {name} in SRPARSE_TREEBANKS"
    );
    path
}
