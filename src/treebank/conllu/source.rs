//! A CoNLL-U sentence as it was read, to be written again: every line and column is preserved, except those that
//! a tagger or a parser fills.

use std::borrow::Cow;
use std::io::{self, Write};

use super::super::penn::{escape, is_space};
use super::super::sentence_id::SentenceId;
use super::super::tagged::field;
use crate::tree::{Token, Tree, Visit};

const UPOS: usize = 3;
const XPOS: usize = 4;
const HEAD: usize = 6;
const DEPREL: usize = 7;
const MISC: usize = 9;

/// The key of the constituents in MISC.
const CONSTITUENTS: &str = "Constituents=";

/// The lines of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    lines: Vec<SourceLine>,
    id: Option<SentenceId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SourceLine {
    text: String,
    is_word: bool,
}

impl Source {
    /// Keeps the ID that a comment gives, `# sent_id = x`.
    pub(in crate::treebank) fn keep_id(&mut self) {
        let comments = self.lines.iter().filter_map(|line| line.text.strip_prefix('#'));
        let mut values = comments.filter_map(|comment| {
            let (key, value) = comment.split_once('=')?;
            (key.trim() == "sent_id").then(|| value.trim())
        });
        self.id = values.next().map(SentenceId::from);
    }

    /// Returns the ID that was kept.
    pub(in crate::treebank) fn id(&self) -> Option<&SentenceId> {
        self.id.as_ref()
    }

    /// Adds the line of a word.
    pub(super) fn word(&mut self, line: &str) {
        self.lines.push(SourceLine { text: line.to_owned(), is_word: true });
    }

    /// Adds a comment, a multiword token range or an empty node.
    pub(super) fn other(&mut self, line: &str) {
        self.lines.push(SourceLine { text: line.to_owned(), is_word: false });
    }

    /// Writes the comments.
    pub(in crate::treebank) fn write_comments(&self, out: &mut impl Write) -> io::Result<()> {
        for line in self.lines.iter().filter(|line| line.text.starts_with('#')) {
            writeln!(out, "{}", line.text)?;
        }
        Ok(())
    }

    /// Writes the sentence with its parse, and a blank line. HEAD and DEPREL are those of the parse; XPOS is
    /// replaced where the tag differs from the one that was read. MISC gets the part of the tree that belongs to
    /// the word, such as `(NP(NP*)`: the brackets that begin with the word, `*` for the word, and those that end
    /// with it.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_parsed<R: AsRef<str>>(
        &self,
        tree: &Tree,
        heads: &[u32],
        relations: &[R],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let constituents = constituents(tree);
        self.write(out, |position, columns| {
            retag(columns, tree.tokens().get(position));
            let head = heads.get(position).copied().unwrap_or(0);
            columns[HEAD] = Cow::Owned(head.to_string());
            let relation = relations.get(position).map_or("_", AsRef::as_ref);
            columns[DEPREL] = Cow::Owned(field(relation, is_space, "_").into_owned());
            let constituent = constituents.get(position).map_or("", String::as_str);
            columns[MISC] = Cow::Owned(with_constituent(&columns[MISC], constituent));
        })
    }

    /// Writes the sentence with the tags of its tokens, and a blank line. XPOS is replaced where the tag differs
    /// from the one that was read.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_tagged(&self, tokens: &[Token], out: &mut impl Write) -> io::Result<()> {
        self.write(out, |position, columns| retag(columns, tokens.get(position)))
    }

    /// Writes all lines; `change` gets the columns of each word.
    fn write(
        &self,
        out: &mut impl Write,
        change: impl Fn(usize, &mut [Cow<'_, str>]),
    ) -> io::Result<()> {
        let mut position = 0;
        for SourceLine { text, is_word } in &self.lines {
            if *is_word {
                let mut columns: Vec<Cow<'_, str>> = text.split('\t').map(Cow::Borrowed).collect();
                change(position, &mut columns);
                position += 1;
                out.write_all(columns.join("\t").as_bytes())?;
            } else {
                out.write_all(text.as_bytes())?;
            }
            out.write_all(b"\n")?;
        }
        out.write_all(b"\n")
    }
}

/// Replaces XPOS if the tag differs from the one that was read.
fn retag(columns: &mut [Cow<'_, str>], token: Option<&Token>) {
    let read = if columns[XPOS] == "_" { &columns[UPOS] } else { &columns[XPOS] };
    if let Some(token) = token.filter(|token| token.tag != read.as_ref()) {
        columns[XPOS] = Cow::Owned(field(&token.tag, is_space, "_").into_owned());
    }
}

/// The column MISC with other constituents.
fn with_constituent(misc: &str, constituent: &str) -> String {
    let others = misc.split('|').filter(|part| *part != "_" && !part.starts_with(CONSTITUENTS));
    let own = format!("{CONSTITUENTS}{constituent}");
    others.chain([own.as_str()]).collect::<Vec<_>>().join("|")
}

/// The part of the tree that belongs to each word.
fn constituents(tree: &Tree) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::with_capacity(tree.tokens().len());
    let mut opened = String::new();
    for step in tree.traverse() {
        match step {
            Visit::Open(id) => {
                opened.push('(');
                // A bar would end the attribute.
                opened.push_str(&escape(&tree.node(id).label).replace('|', "\\p"));
            }
            Visit::Token(_) => {
                opened.push('*');
                pieces.push(std::mem::take(&mut opened));
            }
            Visit::Close(_) => match pieces.last_mut() {
                Some(piece) if opened.is_empty() => piece.push(')'),
                _ => opened.push(')'),
            },
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treebank::conllu::SentenceReader;

    const LINES: [&str; 6] = [
        "# sent_id = 1",
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
        "1\tde\tde\tADP\tP\tA=b\t9\tcase\t2:case\tGloss=of|Constituents=x",
        "1.1\tx\t_\t_\t_\t_\t_\t_\t1:dep\t_",
        "2\tpain\tpain\tNOUN\t_\t_\t0\troot\t_\t_",
        "3\t!\t!\tPUNCT\t.\t_\t2\tpunct\t_\t_",
    ];

    fn source() -> Source {
        let mut reader = SentenceReader::new();
        LINES.iter().for_each(|line| reader.line(line).unwrap());
        assert_eq!(reader.finish().unwrap().len(), 3);
        reader.take_source()
    }

    #[test]
    fn what_a_parse_does_not_fill_stays() {
        let tree: Tree = "(TOP (S (PP|X (P de) (NP (N pain))) (. !)))".parse().unwrap();
        let mut out = Vec::new();
        source().write_parsed(&tree, &[2, 0, 2], &["a b", "root"], &mut out).unwrap();
        let expected = [
            LINES[0],
            LINES[1],
            "1\tde\tde\tADP\tP\tA=b\t2\ta_b\t2:case\tGloss=of|Constituents=(TOP(S(PP\\pX*",
            LINES[3],
            "2\tpain\tpain\tNOUN\tN\t_\t0\troot\t_\tConstituents=(NP*))",
            "3\t!\t!\tPUNCT\t.\t_\t2\t_\t_\tConstituents=*))",
            "",
            "",
        ];
        assert_eq!(String::from_utf8(out).unwrap(), expected.join("\n"));
    }

    #[test]
    fn a_tagger_fills_nothing_but_tags() {
        let tokens = [Token::new("de", "P"), Token::new("pain", "NOUN"), Token::new("!", "X")];
        let mut out = Vec::new();
        source().write_tagged(&tokens, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let changed: Vec<&str> = text.lines().filter(|line| !LINES.contains(line)).collect();
        assert_eq!(changed, ["3\t!\t!\tPUNCT\tX\t_\t2\tpunct\t_\t_", ""]);
    }
}
