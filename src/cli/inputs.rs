//! The files that a command reads, with notes about those that it does not.

use std::io;
use std::path::PathBuf;

use super::closed_streams::stdin_was_closed;
use super::notes::Notes;
use crate::Error;
use crate::error::counted;
use crate::treebank::{Input, Inputs, ReadReport, expand};

/// Expands files, folders and patterns, and notes what is left out, unless `quiet`.
///
/// # Errors
/// As [`expand`], and when standard input is to be read but closed.
pub(super) fn inputs(paths: &[PathBuf], quiet: bool) -> crate::Result<Vec<Input>> {
    let Inputs { found, left_out } = expand(paths)?;
    if found.contains(&Input::Stdin) && stdin_was_closed() {
        let problem = io::Error::other("standard input is closed: name files");
        return Err(Error::io(Input::Stdin.name(), problem));
    }
    note_left_out(&left_out, quiet);
    Ok(found)
}

/// As [`inputs`], but a file that is named several times is read as often: each of its lines is one to answer.
pub(super) fn inputs_as_named(paths: &[PathBuf], quiet: bool) -> crate::Result<Vec<Input>> {
    let n_stdin = paths.iter().filter(|path| path.as_os_str() == "-").count();
    if n_stdin > 1 {
        return inputs(paths, quiet);
    }
    let found = paths.iter().map(|path| inputs(std::slice::from_ref(path), quiet));
    Ok(found.collect::<crate::Result<Vec<_>>>()?.concat())
}

/// Notes the files and links that are not read, unless `quiet`.
pub(super) fn note_left_out(left_out: &[String], quiet: bool) {
    let mut notes = Notes::new("files and links that are not read", quiet);
    for reason in left_out {
        notes.print(&format!("note: {reason}"));
    }
    notes.end();
}

/// Notes how many trees cleaning leaves no words, unless `quiet`.
pub(super) fn note_without_words(trees: u64, quiet: bool) {
    if trees > 0 && !quiet {
        say!("left out {} without words after cleaning", counted(trees, "tree"));
    }
}

/// Prints what was read and what was left out; unless `quiet`, or trees were skipped.
pub(super) fn note_report(report: &ReadReport, quiet: bool) {
    note_left_out(&report.left_out, quiet);
    if !quiet || report.skipped > 0 {
        say!("{report}");
    }
}
