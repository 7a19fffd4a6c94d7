//! Alpino XML, the format of the Alpino and Lassy treebanks: dependency structures with phrases, one or many sentences a
//! file.
//!
//! ```xml
//! <alpino_ds version="1.3">
//!   <node begin="0" cat="top" end="3" id="0" rel="top">
//!     <node begin="0" cat="smain" end="2" id="1" rel="--">
//!       <node begin="0" end="1" id="2" pos="noun" rel="su" word="Honden"/>
//!       <node begin="1" end="2" id="3" pos="verb" rel="hd" word="blaffen"/>
//!     </node>
//!     <node begin="2" end="3" id="4" pos="punct" rel="--" word="."/>
//!   </node>
//!   <sentence sentid="12">Honden blaffen .</sentence>
//! </alpino_ds>
//! ```
//!
//! The words are in the order of `begin`. Their tag is made of `postag`: see `tag_of_features`. Without `postag`, it is
//! `pos` or else `pt`. The relation of a node is joined to its category: `np-su`. A node with an `index` alone refers to
//! another, as a trace does: it is left out. Other elements and attributes are skipped. Crossing branches are uncrossed:
//! see `graph.rs`.

use std::io::Read;
use std::path::Path;

use quick_xml::events::{BytesStart, Event};

use super::graph::{Graph, ROOT, Vertex};
use super::input::Encoding;
use super::penn::excerpt;
use super::tree_reader::{FormatReader, TreeFacts};
use super::xml::{Xml, attributes, foreign, optional};
use crate::error::{Error, Place, Result};
use crate::tree::{Token, Tree};

/// Reads the sentences of one stream as trees.
pub struct AlpinoXmlReader {
    xml: Xml,
    /// The number of sentences so far.
    number: u64,
    /// The ID is the `sentid`, or else the name of the file without `.xml`, with the number of the sentence if it is not the
    /// first.
    facts: TreeFacts,
}

/// A sentence as far as it has been read.
struct Sentence {
    graph: Graph,
    /// The open nodes.
    open: Vec<u32>,
    words: Vec<Word>,
    id: Option<String>,
    /// The first error.
    problem: Option<(Place, String)>,
}

struct Word {
    begin: u32,
    token: Token,
    parent: u32,
    relation: String,
}

/// The word class and the first feature of a tag of the Spoken Dutch Corpus: `WW-pv` of `WW(pv,verl,mv)`; `None` if it is no
/// such tag. There are 219 tags with all features; the column or attribute with shorter ones (`pos`) changes its meaning
/// within the Alpino treebank.
pub(super) fn tag_of_features(tag: &str) -> Option<String> {
    let (class, features) = tag.strip_suffix(')')?.split_once('(')?;
    let first = features.split(',').next().unwrap_or_default();
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match (class, first) {
        _ if class.is_empty() || !is_plain(class) || !is_plain(first) => None,
        (class, "") => Some(class.to_owned()),
        (class, first) => Some(format!("{class}-{first}")),
    }
}

impl AlpinoXmlReader {
    /// Returns a reader of a stream; messages call it `name`.
    pub fn new(reader: Box<dyn Read + Send>, name: impl Into<String>, encoding: Encoding) -> Self {
        let xml = Xml::new(reader, name, encoding);
        Self { xml, number: 0, facts: TreeFacts::default() }
    }

    /// Makes the tree of a sentence and counts discontinuous nodes.
    fn tree(&mut self, sentence: Option<Sentence>) -> Result<Tree> {
        let mut sentence = sentence.unwrap_or_else(Sentence::new);
        self.number += 1;
        self.facts.id = sentence.id.take().or_else(|| self.id_of_file());
        let began = self.facts.began;
        let at = Place::new(self.xml.name(), began, 1);
        let (tree, discontinuous) =
            sentence.into_tree(&at).map_err(|(at, problem)| Error::Tree { at, began, problem })?;
        self.facts.discontinuous += discontinuous;
        Ok(tree)
    }

    fn id_of_file(&self) -> Option<String> {
        let name = Path::new(self.xml.name()).file_name()?.to_str()?;
        let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".xml")?;
        Some(match self.number {
            1 => stem.to_owned(),
            number => format!("{stem}.{number}"),
        })
    }
}

impl FormatReader for AlpinoXmlReader {
    fn read(&mut self) -> Result<Option<Tree>> {
        let mut sentence: Option<Sentence> = None;
        while let Some((event, at)) = self.xml.next()? {
            let (element, is_empty) = match event {
                Event::Start(element) => (element, false),
                Event::Empty(element) => (element, true),
                Event::End(end) => {
                    match (end.local_name().as_ref(), &mut sentence) {
                        ("node", Some(sentence)) => drop(sentence.open.pop()),
                        ("alpino_ds", Some(_)) => return self.tree(sentence).map(Some),
                        _ => {}
                    }
                    continue;
                }
                _ => continue,
            };
            match (element.local_name().as_ref(), &mut sentence) {
                ("alpino_ds", None) => {
                    self.facts.began = at.line;
                    sentence = Some(Sentence::new());
                    if is_empty {
                        return self.tree(sentence).map(Some);
                    }
                }
                (_, Some(sentence)) => sentence.add(&element, is_empty, at),
                (other, None) if self.number == 0 && other != "treebank" => {
                    let error = foreign(other, at);
                    self.xml.end();
                    return Err(error);
                }
                _ => {}
            }
        }
        self.xml.check_end(sentence.map(|_| self.facts.began)).map(|()| None)
    }

    fn facts(&self) -> &TreeFacts {
        &self.facts
    }
}

impl Sentence {
    fn new() -> Self {
        let (open, words) = (Vec::new(), Vec::new());
        Self { graph: Graph::new(), open, words, id: None, problem: None }
    }

    /// Adds an element; of several errors the first is kept.
    fn add(&mut self, element: &BytesStart<'_>, is_empty: bool, at: Place) {
        let added = match element.local_name().as_ref() {
            "node" => self.node(element, is_empty),
            "sentence" => optional(element, ["sentid"]).map(|[id]| self.id = id),
            "alpino_ds" => Err("a sentence inside of a sentence: close the first".to_owned()),
            _ => Ok(()),
        };
        if self.problem.is_none() {
            self.problem = added.err().map(|problem| (at, problem));
        }
    }

    fn node(&mut self, element: &BytesStart<'_>, is_empty: bool) -> Result<(), String> {
        let parent = self.open.last().copied().unwrap_or(ROOT);
        // An element that is opened is closed, whatever it has.
        if !is_empty {
            self.open.push(parent);
        }
        let [word, category, relation, index] = optional(element, ["word", "cat", "rel", "index"])?;
        let relation = relation.unwrap_or_default();
        match (word, category) {
            (Some(word), _) => self.word(element, word, parent, relation),
            (None, Some(category)) => {
                let node = if category == "top" && parent == ROOT {
                    ROOT
                } else {
                    let node = self.graph.node(&category);
                    self.graph.attach(Vertex::Node(node), parent, &relation);
                    node
                };
                if let Some(last) = self.open.last_mut().filter(|_| !is_empty) {
                    *last = node;
                }
                Ok(())
            }
            (None, None) if index.is_some() => Ok(()),
            (None, None) => {
                Err("<node> has neither `word` nor `cat` nor `index`: add one".to_owned())
            }
        }
    }

    fn word(
        &mut self,
        element: &BytesStart<'_>,
        word: String,
        parent: u32,
        relation: String,
    ) -> Result<(), String> {
        let [begin] = attributes(element, ["begin"])?;
        let problem = || {
            format!("begin is `{}`: it must be the position of the word, from 0", excerpt(&begin))
        };
        let begin = begin.parse().map_err(|_| problem())?;
        let [features, pos, pt] = optional(element, ["postag", "pos", "pt"])?;
        let short = features.as_deref().and_then(tag_of_features);
        let tag = short.or(pos).or(pt).or(features);
        let tag = tag.ok_or("<node> has a word and none of `pos`, `pt` and `postag`: add one")?;
        self.words.push(Word { begin, token: Token::new(word, tag), parent, relation });
        Ok(())
    }

    /// Makes the tree, and counts discontinuous nodes; `at` is where the sentence begins.
    fn into_tree(mut self, at: &Place) -> Result<(Tree, u64), (Place, String)> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        self.words.sort_by_key(|word| word.begin);
        let twice = self.words.windows(2).find(|pair| pair[0].begin == pair[1].begin);
        if let Some([_, second]) = twice {
            let problem = format!(
                "a second word begins at {}, `{}`: correct `begin`",
                second.begin,
                excerpt(&second.token.word)
            );
            return Err((at.clone(), problem));
        }
        for Word { token, parent, relation, .. } in self.words {
            let token = self.graph.token(token);
            self.graph.attach(token, parent, &relation);
        }
        self.graph.attach_rest();
        let problem = "a node dominates itself: correct the nodes";
        self.graph.into_tree().ok_or_else(|| (at.clone(), problem.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(reader: &mut AlpinoXmlReader) -> String {
        match reader.read() {
            Ok(tree) => tree.map_or("end".to_owned(), |tree| tree.to_string()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn words_are_in_the_order_of_begin_and_references_are_left_out() {
        let text = "<treebank>\n<alpino_ds version='1.3'><node cat='top' rel='top' begin='0' end='4' id='0'>\
             <node cat='smain' rel='--' id='1'><node index='1' pos='noun' rel='su' begin='0' word='Jan'/>\
             <node rel='hd' pos='verb' begin='1' word='wil'/><node cat='inf' rel='vc' id='3'><node rel='su' index='1'/>\
             <node pos='verb' postag='WW(inf,vrij)' rel='hd' begin='2' word='&lt;slapen&gt;'/></node></node>\
             <node postag='LET()' rel='--' begin='3' word='.'/></node><sentence sentid='p.1'>Jan wil</sentence></alpino_ds>\n\
             <alpino_ds/></treebank>";
        let mut reader = AlpinoXmlReader::new(Box::new(text.as_bytes()), "a/x.xml", Encoding::Utf8);
        let expected = "(VROOT (smain (noun Jan) (verb wil) (inf-vc (WW-inf <slapen>))) (LET .))";
        assert_eq!(next(&mut reader), expected);
        assert_eq!((reader.facts().began, reader.facts().id.as_deref()), (2, Some("p.1")));
        assert_eq!(next(&mut reader), "(VROOT )");
        assert_eq!(
            (next(&mut reader).as_str(), reader.facts().id.as_deref()),
            ("end", Some("x.2"))
        );
    }

    #[test]
    fn tags_are_word_classes_with_the_first_feature() {
        let made = ["WW(pv,verl,mv)", "LET()", "N(soort)"].map(|tag| tag_of_features(tag).unwrap());
        assert_eq!(made, ["WW-pv", "LET", "N-soort"]);
        for other in ["--", "Nom.Pl", "(a)", "a)", "N(a", "N(a.b)", ""] {
            assert_eq!(tag_of_features(other), None, "{other}");
        }
    }

    #[test]
    fn mistakes_are_placed_and_sentences_after_them_are_read() {
        let text = "<alpino_ds><node cat='top'>\n <node word='a' pos='A'/></node></alpino_ds>\n\
             <alpino_ds><node cat='top'><node word='a' pos='A' begin='x'/></node></alpino_ds>\n\
             <alpino_ds><node word='a' pos='A' begin='0'/><node word='b' pos='A' begin='0'/></alpino_ds>\n\
             <alpino_ds><node rel='su'><node word='b' begin='0'/></node></alpino_ds>\n\
             <alpino_ds><node word='b' begin='0'/></alpino_ds>\n\
             <alpino_ds><node word='b' pos='A' begin='0'/></alpino_ds>\n<alpino_ds><node>";
        let mut reader = AlpinoXmlReader::new(Box::new(text.as_bytes()), "x", Encoding::Utf8);
        for says in [
            "x:2:2: <node> has no attribute `begin`: add it",
            "x:3:28: begin is `x`",
            "x:4:1: a second word begins at 0, `b`",
            "x:5:12: <node> has neither `word` nor `cat` nor `index`",
            "x:6:12: <node> has a word and none of `pos`",
            "(VROOT (A b))",
            "x:8:18: the text ends inside the sentence",
            "end",
        ] {
            let found = next(&mut reader);
            assert!(found.starts_with(says), "{found} instead of {says}");
        }
        let cut = "<treebank><alpino_ds/>";
        let mut cut = AlpinoXmlReader::new(Box::new(cut.as_bytes()), "x", Encoding::Utf8);
        assert_eq!(next(&mut cut), "(VROOT )");
        assert!(next(&mut cut).starts_with("x:1:23: the text ends inside an element"));
        let html = "<treebank><s/></treebank>";
        let mut html = AlpinoXmlReader::new(Box::new(html.as_bytes()), "x", Encoding::Utf8);
        assert!(next(&mut html).starts_with("x:1:11: the XML begins with <s>"));
    }
}
