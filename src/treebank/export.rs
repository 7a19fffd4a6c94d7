//! NEGRA export (Brants 1997), in formats 3 and 4: one line per word and per node, with the number of the parent.
//!
//! ```text
//! #FORMAT 3
//! #BOS 1
//! Hunde    NN     Nom.Pl  NK  500
//! bellen   VVFIN  3.Pl    HD  501
//! .        $.     --      --  0
//! #500     NP     --      SB  501
//! #501     S      --      --  0
//! #EOS 1
//! ```
//!
//! Columns are separated by tabs or spaces. Format 4 has the lemma as second column. In the Alpino treebank the morphology is
//! a tag, of which the shorter tag is made: see `tag_of_features`. Other morphology, lemmas, secondary edges, comments
//! (`%%`) and tables (`#BOT`) are skipped. Crossing branches are uncrossed: see `graph.rs`.

use std::io::Read;

use rustc_hash::FxHashMap;

use super::alpino_xml::tag_of_features;
use super::graph::{Graph, ROOT, Vertex};
use super::input::Encoding;
use super::line_reader::LineReader;
use super::penn::{excerpt, is_space};
use super::tagged::LineProblem;
use super::tree_reader::{FormatReader, TreeFacts};
use crate::error::{Error, Place, Result};
use crate::tree::{Token, Tree};

/// The smallest number of a node.
const FIRST_NODE: u32 = 500;

/// Reads the sentences of one stream as trees.
#[derive(Debug)]
pub struct ExportReader {
    lines: LineReader,
    name: String,
    has_lemmas: bool,
    after: After,
    facts: TreeFacts,
}

/// The point from which reading continues.
#[derive(Debug, Clone, Copy, Default)]
enum After {
    /// With the next line.
    #[default]
    Line,
    /// After the end of a sentence that cannot be read.
    Sentence,
    /// In the sentence that the current line begins.
    Begin,
}

/// The lines of a sentence.
#[derive(Default)]
struct Sentence {
    rows: Vec<Row>,
    /// The rows of the nodes, by their numbers.
    nodes: FxHashMap<u32, usize>,
}

/// A word or a node.
struct Row {
    /// The word; `None` for a node.
    word: Option<String>,
    /// The tag or label.
    label: String,
    function: String,
    parent: u32,
    /// Where the number of the parent stands.
    at: (u64, u64),
}

impl ExportReader {
    /// Returns a reader of a stream; messages call it `name`.
    pub fn new(reader: Box<dyn Read + Send>, name: impl Into<String>, encoding: Encoding) -> Self {
        let name = name.into();
        let lines = LineReader::new(reader, name.clone(), encoding);
        let (after, facts) = (After::Line, TreeFacts::default());
        Self { lines, name, has_lemmas: false, after, facts }
    }

    fn decoded(&self) -> Result<std::borrow::Cow<'_, str>> {
        self.lines
            .decode()
            .map_err(|(column, problem)| Error::syntax(self.lines.place(column), problem))
    }

    fn set_format(&mut self) -> Result<()> {
        let line = self.decoded()?;
        let version = columns(&line).nth(1);
        self.has_lemmas = match version {
            Some("3") => false,
            Some("4") => true,
            _ => {
                let problem = "an unknown export format: formats 3 and 4 are read";
                return Err(Error::syntax(self.lines.place(1), problem));
            }
        };
        Ok(())
    }

    /// Skips lines up to one that begins like this; returns false at the end.
    fn skip_to(&mut self, begin: &str) -> Result<bool> {
        while self.lines.advance()? {
            if self.lines.bytes().starts_with(begin.as_bytes()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a sentence after its first line.
    fn sentence(&mut self) -> Result<Tree> {
        self.facts.began = self.lines.place(1).line;
        let line = self.lines.decode().ok();
        self.facts.id = line.and_then(|line| columns(&line).nth(1).map(str::to_owned));
        let mut sentence = Sentence::default();
        loop {
            if !self.lines.advance()? {
                return Err(self.problem(LineProblem {
                    column: 1,
                    problem: "the text ends inside the sentence: add its #EOS".to_owned(),
                }));
            }
            let added = match self.lines.decode() {
                Err((column, problem)) => Err(LineProblem { column, problem: problem.to_owned() }),
                Ok(line) if line.starts_with("#EOS") => break,
                Ok(line) if begins_sentence(&line) => {
                    let problem =
                        "the next sentence begins inside this one: add an #EOS before".to_owned();
                    self.after = After::Begin;
                    return Err(self.problem(LineProblem { column: 1, problem }));
                }
                Ok(line) => {
                    let line = line.trim_end_matches(['\r', '\n']);
                    sentence.add(line, self.lines.place(1).line, self.has_lemmas)
                }
            };
            if let Err(problem) = added {
                self.after = After::Sentence;
                return Err(self.problem(problem));
            }
        }
        match sentence.into_tree() {
            Ok((tree, discontinuous)) => {
                self.facts.discontinuous += discontinuous;
                Ok(tree)
            }
            Err(((line, column), problem)) => {
                Err(self.broken(Place::new(&self.name, line, column), problem))
            }
        }
    }

    /// An error on the current line of a sentence.
    fn problem(&self, LineProblem { column, problem }: LineProblem) -> Error {
        self.broken(self.lines.place(column), problem)
    }

    fn broken(&self, at: Place, problem: String) -> Error {
        Error::Tree { at, began: self.facts.began, problem }
    }
}

impl FormatReader for ExportReader {
    fn read(&mut self) -> Result<Option<Tree>> {
        match std::mem::take(&mut self.after) {
            After::Line => {}
            After::Begin => return self.sentence().map(Some),
            After::Sentence => {
                while !self.lines.bytes().starts_with(b"#EOS") {
                    if !self.lines.advance()? {
                        return Ok(None);
                    }
                    if self.lines.bytes().starts_with(b"#BOS") {
                        return self.sentence().map(Some);
                    }
                }
            }
        }
        while self.lines.advance()? {
            let (is_sentence, is_table) =
                match self.decoded()?.split(is_space).next().unwrap_or_default() {
                    "" => (false, false),
                    "#BOS" => (true, false),
                    "#BOT" => (false, true),
                    "#FORMAT" => {
                        self.set_format()?;
                        (false, false)
                    }
                    other if other.starts_with("%%") => (false, false),
                    other => {
                        let problem = format!(
                            "`{}` is outside of any sentence: put it between #BOS and #EOS",
                            excerpt(other)
                        );
                        return Err(Error::syntax(self.lines.place(1), problem));
                    }
                };
            if is_sentence {
                return self.sentence().map(Some);
            }
            if is_table && !self.skip_to("#EOT")? {
                break;
            }
        }
        Ok(None)
    }

    fn facts(&self) -> &TreeFacts {
        &self.facts
    }
}

/// Whether a line begins a sentence: with a tab it may also be a word, whose other columns are not all numbers.
fn begins_sentence(line: &str) -> bool {
    let is_number = |column: &str| column.bytes().all(|byte| byte.is_ascii_digit());
    line.starts_with("#BOS ")
        || line.strip_prefix("#BOS\t").is_some_and(|rest| {
            columns(rest).take_while(|column| !column.starts_with("%%")).all(is_number)
        })
}

/// The columns of a line.
fn columns(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_space).filter(|column| !column.is_empty())
}

impl Sentence {
    /// Adds a line.
    fn add(&mut self, line: &str, number: u64, has_lemmas: bool) -> Result<(), LineProblem> {
        let mut columns: Vec<&str> = columns(line).collect();
        // The first column is a word, whatever it looks like.
        let comment = columns.iter().skip(1).position(|part| part.starts_with("%%"));
        columns.truncate(comment.map_or(columns.len(), |at| at + 1));
        let (wanted, names) = if has_lemmas {
            (6, "word, lemma, tag, morphology, edge, parent")
        } else {
            (5, "word, tag, morphology, edge, parent")
        };
        if columns.is_empty() {
            return Ok(());
        }
        if columns.len() < wanted {
            let problem = format!("{} columns instead of {wanted}: {names}", columns.len());
            return Err(LineProblem { column: 1, problem });
        }
        if has_lemmas {
            columns.remove(1);
        }
        let [form, label, morphology, function, parent, ..] = columns[..] else { return Ok(()) };
        let number_of = |text: &str| text.parse::<u32>().ok();
        let Some(above) = number_of(parent).filter(|&n| n == 0 || n >= FIRST_NODE) else {
            let problem = format!(
                "`{}` is not the number of a node: write 0 for the root, or 500 and above",
                excerpt(parent)
            );
            return Err(LineProblem::new(line, parent, problem));
        };
        let node = form.strip_prefix('#').and_then(number_of).filter(|&n| n >= FIRST_NODE);
        if let Some(node) = node
            && self.nodes.insert(node, self.rows.len()).is_some()
        {
            let problem =
                format!("a second node {node}: number the nodes of a sentence differently");
            return Err(LineProblem::new(line, form, problem));
        }
        let short = if node.is_none() { tag_of_features(morphology) } else { None };
        self.rows.push(Row {
            word: node.is_none().then(|| form.to_owned()),
            label: short.unwrap_or_else(|| label.to_owned()),
            function: function.to_owned(),
            parent: above,
            at: (number, LineProblem::new(line, parent, String::new()).column),
        });
        Ok(())
    }

    /// Makes the tree, and counts discontinuous nodes; fails with a line and column.
    fn into_tree(self) -> Result<(Tree, u64), ((u64, u64), String)> {
        let mut graph = Graph::new();
        let vertices: Vec<Vertex> = self
            .rows
            .iter()
            .map(|row| match &row.word {
                Some(word) => graph.token(Token::new(word, &row.label)),
                None => Vertex::Node(graph.node(&row.label)),
            })
            .collect();
        for (row, &vertex) in self.rows.iter().zip(&vertices) {
            let parent = match self.nodes.get(&row.parent).map(|&at| vertices[at]) {
                Some(Vertex::Node(node)) => node,
                _ if row.parent == 0 => ROOT,
                _ => {
                    return Err((
                        row.at,
                        format!("there is no node {} in the sentence", row.parent),
                    ));
                }
            };
            graph.attach(vertex, parent, &row.function);
        }
        let at = self.rows.first().map_or((1, 1), |row| (row.at.0, 1));
        let problem = "a node dominates itself: correct the numbers of the parents";
        graph.into_tree().ok_or_else(|| (at, problem.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &'static [u8]) -> ExportReader {
        ExportReader::new(Box::new(text), "e", Encoding::Utf8)
    }

    const TABLES: &str = "%% a comment\n#FORMAT 3\n#BOT ORIGIN\n0\tnowhere\n#EOT ORIGIN\n\n";

    #[test]
    fn both_formats_are_read_and_crossing_branches_counted() {
        let three = "#BOS 1 2 3 1 %% comment\nEr\tPPER\t3.Sg\tSB\t501\nhat  VAFIN  --  HD  501  %% secondary\n\
                     ihn\tPPER\t--\tOA\t500\tOC 501\n,\t$,\t--\t--\t0\ngestern\tADV\t--\tMO\t501\n\
                     gesehen\tVVPP\t--\tHD\t500\n#500\tVP\t--\tOC\t501\n#501\tS\t--\t--\t0\n#EOS 1\n";
        let text: &'static str = format!("{TABLES}{three}").leak();
        let mut reader = reader(text.as_bytes());
        let tree = reader.read().unwrap().unwrap();
        let expected = "(VROOT (S (PPER Er) (VAFIN hat) (PPER ihn) ($, ,) (ADV gestern) (VP-OC (VVPP gesehen))))";
        assert_eq!((tree.to_string().as_str(), reader.facts().began), (expected, 7));
        assert_eq!((reader.read().unwrap(), reader.facts().discontinuous), (None, 1));
        let four = b"#FORMAT 4\n#BOS 9\n#1 #1 NN -- HD 500\n#500 -- NX -- ON 0\n#EOS 9\n";
        let tree = self::reader(four).read().unwrap().unwrap();
        assert_eq!(tree.to_string(), "(VROOT (NX-ON (NN #1)))");
        let alpino =
            b"#FORMAT 4\n#BOS 9\nwas zijn verb WW(pv,verl) HD 500\n#500 -- NX -- ON 0\n#EOS 9\n";
        let tree = self::reader(alpino).read().unwrap().unwrap();
        assert_eq!(tree.to_string(), "(VROOT (NX-ON (WW-pv was)))");
    }

    #[test]
    fn mistakes_are_placed_and_reading_goes_on_after_them() {
        let text = b"#FORMAT 5\nword\n#BOS 1\na\tB\t--\t--\n#EOS 1\n#BOS 2\na B -- -- 17\n#EOS 2\n\
                     #BOS 3\na B -- -- 501\n#EOS 3\n#BOS 4\n#500 S -- -- 501\n#501 S -- -- 500\na B -- -- 0\n#EOS 4\n\
                     #BOS 5\n#500 S -- -- 0\n#500 S -- -- 0\n#EOS\n#BOS 6\n\xff\n#EOS\n#BOS 7\na A -- -- 0\n#EOS 7\n\
                     #BOS 8\na A -- -- 0\n#BOS 9\nb B --\n#BOS 10\nc C -- -- 0\n#EOS 10\n\
                     #BOS 11\na A -- -- 0\n#BOS\t12\t2\t899973978\t0\n#BOS\tD\t--\t--\t0\n#EOS 12\n#BOS 13\na A -- -- 0\n";
        let mut reader = reader(text);
        let mut next = || match reader.read() {
            Ok(tree) => tree.map_or("end".to_owned(), |tree| tree.to_string()),
            Err(error) => error.to_string(),
        };
        for says in [
            "e:1:1: an unknown export format",
            "e:2:1: `word` is outside of any sentence",
            "e:4:1: 4 columns instead of 5: word, tag, morphology, edge, parent (the tree began on line 3)",
            "e:7:11: `17` is not the number of a node",
            "e:10:11: there is no node 501",
            "e:13:1: a node dominates itself",
            "e:19:1: a second node 500",
            "e:22:1: not UTF-8",
            "(VROOT (A a))",
            "e:29:1: the next sentence begins",
            "e:30:1: 3 columns instead of 5",
            "(VROOT (C c))",
            "e:36:1: the next sentence begins",
            "(VROOT (D #BOS))",
            "e:41:1: the text ends inside the sentence",
            "end",
        ] {
            let found = next();
            assert!(found.starts_with(says), "{found} instead of {says}");
        }
    }
}
