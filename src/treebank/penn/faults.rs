//! The errors of malformed trees, and how much of such a tree is skipped.

use std::io::Read;

use super::{Inside, PennReader, Recover};
use crate::error::{Error, Place};

impl<R: Read> PennReader<R> {
    pub(super) fn place(&self, (line, column): (u64, u64)) -> Place {
        Place::new(&self.name, line, column)
    }

    /// Returns an error inside a tree; `open` brackets are still open after it.
    pub(super) fn broken(&mut self, at: usize, open: usize, problem: String) -> Error {
        self.recover = Recover::Brackets(open);
        Error::Tree { at: self.place(self.text.place(at)), began: self.began, problem }
    }

    pub(super) fn open_brackets(&self, inside: &Inside) -> usize {
        self.builder.depth() + usize::from(!matches!(inside, Inside::Child))
    }

    pub(super) fn excerpt(&self) -> String {
        excerpt(&self.text.window()[self.word.start..self.word.end])
    }

    pub(super) fn unclosed(&mut self, inside: &Inside, whence: &str) -> Error {
        let n = self.open_brackets(inside);
        let at = self.text.pos;
        let (missing, be) = if n == 1 { ("bracket", "is") } else { ("brackets", "are") };
        let problem = format!(
            "unbalanced: {n} {missing} {be} still open where {whence}: close {}",
            if n == 1 { "it" } else { "them" }
        );
        self.broken(at, 0, problem)
    }

    pub(super) fn bad_bytes_outside(&mut self) -> Error {
        self.recover = Recover::Line;
        let at = self.text.window().len();
        self.is_stray = !self.text.starts_line(at);
        let at = self.text.place(at);
        self.text.step_over_bad();
        Error::syntax(self.place(at), self.encoding.complaint())
    }

    pub(super) fn unmatched(&mut self) -> Error {
        (self.recover, self.is_stray) = (Recover::Closers, true);
        let at = self.place(self.text.place(self.text.pos - 1));
        Error::syntax(at, "unmatched closing bracket: remove it")
    }

    pub(super) fn word_outside(&mut self) -> Error {
        self.recover = Recover::Line;
        self.is_stray = !self.text.starts_line(self.word.start);
        if !self.is_stray {
            self.begins_at(self.word.start);
        }
        let problem = format!(
            "`{}` is outside of any tree: remove it, or write trees in brackets, as `srparse parse` does without --output and \
             --nbest; for sentences without trees, choose another --input of `parse` or `tag`, or add --text to `find` or \
             `complexity`",
            self.excerpt()
        );
        Error::syntax(self.place(self.text.place(self.word.start)), problem)
    }

    pub(super) fn endless_comment(&mut self, began: (u64, u64), end: &str) -> Error {
        self.is_stray = true;
        let problem = format!("the comment does not end, so the rest is not read: add `{end}`");
        Error::syntax(self.place(began), problem)
    }

    pub(super) fn rest_of_tree(&mut self) -> Error {
        (self.recover, self.is_stray) = (Recover::Brackets(usize::MAX / 2), true);
        let at = self.place(self.text.place(self.text.pos - 1));
        let problem = "unbalanced: the tree has ended, but more closing brackets follow: remove the \
                       first that is too many";
        Error::syntax(at, problem)
    }

    pub(super) fn no_label(&mut self, open: usize) -> Error {
        let open = self.builder.depth() + open;
        let problem =
            "a bracket without a label inside a tree: add a label (only a root may have none), \
                       or close the previous tree"
                .to_owned();
        self.broken(self.text.pos - 1, open, problem)
    }

    pub(super) fn word_with_children(&mut self) -> Error {
        let (word, tag) = self.last_token();
        let problem = format!(
            "`{tag}` has both the word `{word}` and children: put the word in a bracket with its own tag"
        );
        self.broken(self.text.pos - 1, self.builder.depth() + 2, problem)
    }

    pub(super) fn two_words(&mut self) -> Error {
        let problem = self.two_words_problem();
        self.broken(self.word.start, self.builder.depth() + 1, problem)
    }

    pub(super) fn two_words_problem(&self) -> String {
        let (word, tag) = self.last_token();
        let second = self.excerpt();
        format!(
            "two words under the tag `{tag}`, `{word}` and `{second}`: put each in a bracket with its own tag"
        )
    }

    pub(super) fn word_among_children(&mut self) -> Error {
        let word = self.excerpt();
        let label = self.builder.label().map(|label| excerpt(label)).unwrap_or_default();
        let problem = format!(
            "the word `{word}` among the children of `{label}` has no tag: write (TAG {word})"
        );
        self.broken(self.word.start, self.builder.depth(), problem)
    }

    pub(super) fn bad_bytes(&mut self, inside: &Inside) -> Error {
        let open = self.open_brackets(inside);
        let at = self.text.window().len();
        let problem = self.encoding.complaint().to_owned();
        let error = self.broken(at, open, problem);
        self.text.step_over_bad();
        error
    }

    fn last_token(&self) -> (String, String) {
        let token = self.builder.last_token();
        token.map(|t| (excerpt(&t.word), excerpt(&t.tag))).unwrap_or_default()
    }
}

/// Shortens a long word for a message.
pub(in crate::treebank) fn excerpt(word: &str) -> String {
    const LONGEST: usize = 40;
    match word.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}...", &word[..cut]),
        None => word.to_owned(),
    }
}
