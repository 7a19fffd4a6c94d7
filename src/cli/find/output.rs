//! The output for a match.

use std::io::Write;

use console::measure_text_width;

use super::{FindArgs, FindOutput, WIDTH};
use crate::cli::page;
use crate::cli::page::trees::{PageTree, SentenceTrees};
use crate::cli::sentences::Sentence;
use crate::find::{Match, Position};
use crate::found::Searched;
use crate::treebank::penn;

/// The output of the matches of a tree.
pub(super) struct Output<'o> {
    pub(super) args: &'o FindArgs,
    pub(super) sentence: &'o Sentence,
}

impl Output<'_> {
    /// Whether whole trees are printed.
    pub(super) fn is_of_trees(&self) -> bool {
        matches!(self.args.output, FindOutput::Trees | FindOutput::Html)
    }

    /// The words of a node, without traces, as in the text.
    pub(super) fn words(&self, position: Position) -> String {
        self.searched().words(position)
    }

    fn searched(&self) -> Searched<'_> {
        let Sentence { tree, file, number, layout } = self.sentence;
        Searched { tree, number: *number, file: Some(file), layout: layout.as_ref() }
    }

    /// Writes a match as a line. Writing to memory does not fail.
    pub(super) fn write(&self, position: Position, found: &Match<'_>, out: &mut Vec<u8>) {
        if self.args.output == FindOutput::Json {
            self.searched().write_json(position, found, out);
            return;
        }
        self.write_place(out);
        match self.args.output {
            FindOutput::Words => out.extend_from_slice(self.words(position).as_bytes()),
            FindOutput::Kwic => self.write_in_context(position, out),
            _ => self.searched().write_brackets(position, out),
        }
        out.push(b'\n');
    }

    fn write_place(&self, out: &mut Vec<u8>) {
        if !self.args.no_place {
            let _ = write!(out, "{}:{}\t", self.sentence.file, self.sentence.number);
        }
    }

    /// Writes the words of a node between what stands before and after them.
    fn write_in_context(&self, position: Position, out: &mut Vec<u8>) {
        let (start, end) = position.span(&self.sentence.tree);
        let searched = self.searched();
        let width = usize::from(self.args.width.unwrap_or(WIDTH));
        let n = self.sentence.tree.tokens().len() as u32;
        let before = searched.words_of(0, start);
        let before = last_columns(&before, width);
        let after = searched.words_of(end, n);
        let space = " ".repeat(width.saturating_sub(measure_text_width(before)));
        let words = self.words(position);
        let _ = write!(out, "{space}{before}  {words}  {}", first_columns(&after, width));
        while out.last() == Some(&b' ') {
            out.pop();
        }
    }

    /// Writes the whole tree.
    pub(super) fn write_tree(&self, positions: &[Position], out: &mut Vec<u8>) {
        let Sentence { tree, file, number, .. } = self.sentence;
        if self.args.output == FindOutput::Html {
            let name = format!("{file}:{number}");
            let trees = vec![PageTree::with_found(tree, positions)];
            let sentence = SentenceTrees { n: None, name: Some(&name), trees, problem: None };
            let _ = page::write_line(&sentence, out);
            return;
        }
        if !self.args.no_place {
            // Readers of trees skip it.
            let _ = writeln!(out, "# {file}:{number}");
        }
        let _ = penn::write_line(tree, out);
    }
}

/// As much of the end of a text as fits into a number of columns.
fn last_columns(text: &str, width: usize) -> &str {
    let skipped = text.len() - fitting(text.chars().rev(), width);
    &text[skipped..]
}

/// As much of the beginning of a text as fits.
fn first_columns(text: &str, width: usize) -> &str {
    &text[..fitting(text.chars(), width)]
}

/// The length of the first characters that fit, in bytes.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> usize {
    let (mut bytes, mut columns) = (0, 0);
    for character in characters {
        columns += measure_text_width(character.encode_utf8(&mut [0; 4]));
        if columns > width {
            break;
        }
        bytes += character.len_utf8();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_a_terminal() {
        assert_eq!((first_columns("dog barks", 4), last_columns("dog barks", 4)), ("dog ", "arks"));
        assert_eq!((first_columns("日本語", 5), last_columns("日本語", 5)), ("日本", "本語"));
        // Accents take none.
        let accents = format!("a{}", "\u{301}".repeat(100_000));
        assert_eq!(first_columns(&accents, 1), accents);
        assert_eq!(last_columns(&accents, 0).chars().count(), 100_000);
    }
}
