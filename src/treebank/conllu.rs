//! CoNLL-U: one word per line in ten columns, and a blank line after each sentence.
//!
//! FORM is the word and XPOS the tag (UPOS if XPOS is `_`). Multiword token ranges (`1-2`), empty nodes (`1.1`)
//! and comments are not words. A [`Source`] stores them, so that a sentence can be written as it was read, with
//! its parse.

mod source;

use std::io::{self, Write};
use std::ops::Range;

use super::penn::{excerpt, is_space};
use super::tagged::{LineProblem, field};
use crate::text::Layout;
use crate::tree::{Token, Tree};
pub use source::Source;

/// The number of columns.
pub(super) const COLUMNS: usize = 10;

/// Collects the tokens of a sentence line by line.
#[derive(Debug, Default)]
pub struct SentenceReader {
    tokens: Vec<Token>,
    begun: bool,
    source: Source,
}

impl SentenceReader {
    /// Returns a reader at the beginning of a sentence.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next line, which is not blank.
    ///
    /// # Errors
    /// When the line is not in CoNLL-U, or its ID does not follow the previous one.
    pub fn line(&mut self, line: &str) -> Result<(), LineProblem> {
        let line = line.trim_end_matches(['\r', '\n']);
        if line.starts_with('#') {
            self.source.other(line);
            return Ok(());
        }
        self.begun = true;
        let mut columns = [""; COLUMNS];
        let mut n = 0;
        for column in line.split('\t') {
            if let Some(slot) = columns.get_mut(n) {
                *slot = column;
            }
            n += 1;
        }
        if n != COLUMNS {
            let what = if n == 1 { "1 column".to_owned() } else { format!("{n} columns") };
            let problem = format!(
                "{what} instead of {COLUMNS}: separate the columns by tabs and write `_` for an empty \
                 column, or choose another --input (tagged, underscore, penn, tokens)"
            );
            return Err(LineProblem { column: 1, problem });
        }
        let [id, form, _, upos, xpos, ..] = columns;
        match line_of(id) {
            Some(ConlluLine::Word(number)) if number == self.tokens.len() as u64 + 1 => {}
            Some(ConlluLine::Word(number)) => {
                let problem = format!(
                    "ID {number} instead of {}: number the words of a sentence from 1, and separate \
                     sentences by a blank line",
                    self.tokens.len() + 1
                );
                return Err(LineProblem::new(line, id, problem));
            }
            Some(ConlluLine::Other) => {
                self.source.other(line);
                return Ok(());
            }
            None => {
                let problem = format!(
                    "`{}` is not an ID: write a number, a range (1-2) or the ID of an empty node (1.1)",
                    excerpt(id)
                );
                return Err(LineProblem::new(line, id, problem));
            }
        }
        for (name, column) in [("FORM", form), ("UPOS", upos), ("XPOS", xpos)] {
            if column.is_empty() {
                let problem = format!("column {name} is empty: write `_` for no value");
                return Err(LineProblem::new(line, column, problem));
            }
        }
        self.tokens.push(Token::new(form, if xpos == "_" { upos } else { xpos }));
        self.source.word(line);
        Ok(())
    }

    /// Ends the sentence and returns its tokens; `None` if there were no lines except comments.
    pub fn finish(&mut self) -> Option<Vec<Token>> {
        let tokens = std::mem::take(&mut self.tokens);
        std::mem::take(&mut self.begun).then_some(tokens)
    }

    /// Returns the lines since the last call.
    pub fn take_source(&mut self) -> Source {
        std::mem::take(&mut self.source)
    }
}

enum ConlluLine {
    Word(u64),
    /// A multiword token range or an empty node.
    Other,
}

/// Classifies a line by its ID; `None` for an invalid ID.
fn line_of(id: &str) -> Option<ConlluLine> {
    if let Some((first, second)) = id.split_once(['-', '.']) {
        return (is_number(first) && is_number(second)).then_some(ConlluLine::Other);
    }
    if is_number(id) { id.parse().ok().map(ConlluLine::Word) } else { None }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Writes a sentence with its dependencies and a blank line.
///
/// `heads` has the position of each token's head, from 1, with 0 for the root; `relations` has the names of
/// the relations. Missing values are written as `0` and `_`. Tabs, line feeds and other white space inside a
/// field become `_`, except spaces in FORM. With the layout of raw text there are a comment `# text` and MISC
/// with `SpaceAfter=No`, `start_char` and `end_char`.
///
/// # Errors
/// When writing fails.
pub fn write_sentence<R: AsRef<str>>(
    tree: &Tree,
    heads: &[u32],
    relations: &[R],
    layout: Option<&Layout>,
    out: &mut impl Write,
) -> io::Result<()> {
    write_rows(tree.tokens(), layout, out, |position, out| {
        let head = heads.get(position).copied().unwrap_or(0);
        let relation = relations.get(position).map_or("_", AsRef::as_ref);
        write!(out, "{head}\t{}", field(relation, is_space, "_"))
    })
}

/// Writes words and tags without dependencies, and a blank line; fields are as in [`write_sentence`].
///
/// # Errors
/// When writing fails.
pub fn write_tokens(
    tokens: &[Token],
    layout: Option<&Layout>,
    out: &mut impl Write,
) -> io::Result<()> {
    write_rows(tokens, layout, out, |_, out| out.write_all(b"_\t_"))
}

/// Writes the rows of a sentence, or else a comment, and a blank line; `dependency` writes HEAD and DEPREL of the token at a
/// position.
fn write_rows<W: Write>(
    tokens: &[Token],
    layout: Option<&Layout>,
    out: &mut W,
    dependency: impl Fn(usize, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    write_text(layout, out)?;
    if tokens.is_empty() {
        // A blank line alone would be no sentence.
        out.write_all(b"# no words\n")?;
    }
    for (position, token) in tokens.iter().enumerate() {
        let word = field(&token.word, |c| is_space(c) && c != ' ', "_");
        let tag = field(&token.tag, is_space, "_");
        write!(out, "{}\t{word}\t_\t_\t{tag}\t_\t", position + 1)?;
        dependency(position, out)?;
        out.write_all(b"\t_\t")?;
        write_misc(layout, position, out)?;
    }
    out.write_all(b"\n")
}

/// Writes the text of a sentence.
fn write_text(layout: Option<&Layout>, out: &mut impl Write) -> io::Result<()> {
    let Some(layout) = layout else { return Ok(()) };
    writeln!(out, "# text = {}", on_one_line(&layout.text))
}

/// A text with one space for white space of any kind.
pub(super) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes the last column and ends the line.
fn write_misc(layout: Option<&Layout>, position: usize, out: &mut impl Write) -> io::Result<()> {
    let span = layout.and_then(|layout| Some((layout, layout.spans.get(position)?)));
    let Some((layout, Range { start, end })) = span else { return out.write_all(b"_\n") };
    if !layout.space_after(position) {
        out.write_all(b"SpaceAfter=No|")?;
    }
    writeln!(out, "start_char={start}|end_char={end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeBuilder;

    #[test]
    fn ranges_empty_nodes_and_comments_are_skipped() {
        let mut reader = SentenceReader::new();
        for line in [
            "# text = du pain",
            "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_",
            "1\tde\tde\tADP\tP\t_\t0\troot\t_\t_",
            "1.1\tx\t_\t_\t_\t_\t_\t_\t_\t_",
            "2\t20 000\tle\tNUM\t_\t_\t1\tdet\t_\t_\r\n",
        ] {
            reader.line(line).unwrap();
        }
        let tokens = reader.finish().unwrap();
        assert_eq!(tokens, [Token::new("de", "P"), Token::new("20 000", "NUM")]);
        let mut empty = Vec::new();
        write_tokens(&[], None, &mut empty).unwrap();
        assert_eq!(empty, b"# no words\n\n");
        reader.line("# alone").unwrap();
        assert_eq!(reader.finish(), None);
    }

    #[test]
    fn faults_are_placed() {
        let mut reader = SentenceReader::new();
        let few = reader.line("1\tde\tADP").unwrap_err();
        assert!(few.problem.starts_with("3 columns instead of 10"), "{}", few.problem);
        let id = reader.line("x\ta\tb\tc\td\te\tf\tg\th\ti").unwrap_err();
        assert!(id.problem.starts_with("`x` is not an ID"), "{}", id.problem);
        let order = reader.line("2\ta\tb\tc\td\te\tf\tg\th\ti").unwrap_err();
        assert!(order.problem.starts_with("ID 2 instead of 1"), "{}", order.problem);
        let form = reader.line("1\t\tb\tc\td\te\tf\tg\th\ti").unwrap_err();
        assert_eq!(form.column, 3);
    }

    #[test]
    fn written_sentences_can_be_read_again() {
        let mut builder = TreeBuilder::new();
        builder.open("NP");
        builder.token("20 000", "CD");
        builder.token("a\tb", "N N");
        builder.close();
        let mut out = Vec::new();
        write_sentence(&builder.finish(), &[2, 0], &["nummod"], None, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "1\t20 000\t_\t_\tCD\t_\t2\tnummod\t_\t_\n2\ta_b\t_\t_\tN_N\t_\t0\t_\t_\t_\n\n"
        );
        let mut reader = SentenceReader::new();
        text.lines().filter(|line| !line.is_empty()).for_each(|line| reader.line(line).unwrap());
        assert_eq!(reader.finish().unwrap()[0], Token::new("20 000", "CD"));
    }
}
