//! TIGER-XML (Mengel and Lezius 2000): sentences as graphs.
//!
//! ```xml
//! <s id="s1">
//!   <graph root="s1_501">
//!     <terminals>
//!       <t id="s1_1" word="Hunde" pos="NN"/>
//!       <t id="s1_2" word="bellen" pos="VVFIN"/>
//!     </terminals>
//!     <nonterminals>
//!       <nt id="s1_500" cat="NP"><edge label="NK" idref="s1_1"/></nt>
//!       <nt id="s1_501" cat="S"><edge label="SB" idref="s1_500"/><edge label="HD" idref="s1_2"/></nt>
//!     </nonterminals>
//!   </graph>
//! </s>
//! ```
//!
//! The words are in the order of the file. Nodes and words without an incoming edge are attached to the root.
//! Other elements, other attributes and secondary edges are skipped. Crossing branches are uncrossed: see
//! `graph.rs`.

use std::collections::hash_map::Entry;
use std::io::Read;

use quick_xml::events::{BytesStart, Event};
use rustc_hash::FxHashMap;

use super::graph::{Graph, ROOT, ROOT_LABEL, Vertex};
use super::input::Encoding;
use super::penn::excerpt;
use super::tree_reader::{FormatReader, TreeFacts};
use super::xml::{Xml, attributes, foreign, optional};
use crate::error::{Error, Place, Result};
use crate::tree::{Token, Tree};

/// Reads the sentences of one stream as trees.
pub struct TigerXmlReader {
    xml: Xml,
    /// Whether an element has been read.
    begun: bool,
    facts: TreeFacts,
}

/// A sentence as far as it has been read.
struct Sentence {
    graph: Graph,
    vertices: FxHashMap<String, Vertex>,
    /// The node whose edges are read.
    node: Option<u32>,
    edges: Vec<Edge>,
    /// The first error.
    problem: Option<(Place, String)>,
}

/// An edge to a child.
struct Edge {
    parent: u32,
    function: String,
    child: String,
    at: Place,
}

impl TigerXmlReader {
    /// Returns a reader of a stream; messages call it `name`.
    pub fn new(reader: Box<dyn Read + Send>, name: impl Into<String>, encoding: Encoding) -> Self {
        let xml = Xml::new(reader, name, encoding);
        Self { xml, begun: false, facts: TreeFacts::default() }
    }

    fn broken(&self, at: Place, problem: String) -> Error {
        Error::Tree { at, began: self.facts.began, problem }
    }

    /// Makes the tree of a sentence and counts discontinuous nodes.
    fn tree(&mut self, sentence: Option<Sentence>) -> Result<Tree> {
        let (tree, discontinuous) = sentence
            .unwrap_or_else(Sentence::new)
            .into_tree(&Place::new(self.xml.name(), self.facts.began, 1))
            .map_err(|(at, problem)| self.broken(at, problem))?;
        self.facts.discontinuous += discontinuous;
        Ok(tree)
    }
}

impl FormatReader for TigerXmlReader {
    fn read(&mut self) -> Result<Option<Tree>> {
        let mut sentence: Option<Sentence> = None;
        while let Some((event, at)) = self.xml.next()? {
            let (element, is_empty) = match event {
                Event::Start(element) => (element, false),
                Event::Empty(element) => (element, true),
                Event::End(end) => {
                    match (end.local_name().as_ref(), &mut sentence) {
                        ("nt", Some(sentence)) => sentence.node = None,
                        ("s", Some(_)) => return self.tree(sentence).map(Some),
                        _ => {}
                    }
                    continue;
                }
                _ => continue,
            };
            let is_first = !std::mem::replace(&mut self.begun, true);
            match (element.local_name().as_ref(), &mut sentence) {
                ("s", None) => {
                    self.facts.began = at.line;
                    // A malformed attribute is no ID.
                    self.facts.id = optional(&element, ["id"]).ok().and_then(|[id]| id);
                    sentence = Some(Sentence::new());
                    if is_empty {
                        return self.tree(sentence).map(Some);
                    }
                }
                (_, Some(sentence)) => sentence.add(&element, is_empty, at),
                ("corpus" | "subcorpus", None) => {}
                (other, None) if is_first => {
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
        let (graph, vertices) = (Graph::new(), FxHashMap::default());
        Self { graph, vertices, node: None, edges: Vec::new(), problem: None }
    }

    /// Adds an element; after an error nothing is added.
    fn add(&mut self, element: &BytesStart<'_>, is_empty: bool, at: Place) {
        if self.problem.is_some() {
            return;
        }
        let added = match element.local_name().as_ref() {
            "t" => self.token(element),
            "nt" => self.nonterminal(element, is_empty),
            "edge" => self.edge(element, &at),
            "s" => Err("a sentence inside of a sentence".to_owned()),
            _ => Ok(()),
        };
        self.problem = added.err().map(|problem| (at, problem));
    }

    fn token(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        let [id, word, tag] = attributes(element, ["id", "word", "pos"])?;
        let token = self.graph.token(Token::new(word, tag));
        self.name(id, token)
    }

    fn nonterminal(&mut self, element: &BytesStart<'_>, is_empty: bool) -> Result<(), String> {
        let [id, label] = attributes(element, ["id", "cat"])?;
        let node = if label == ROOT_LABEL { ROOT } else { self.graph.node(&label) };
        self.node = (!is_empty).then_some(node);
        self.name(id, Vertex::Node(node))
    }

    fn name(&mut self, id: String, vertex: Vertex) -> Result<(), String> {
        match self.vertices.entry(id) {
            Entry::Vacant(entry) => entry.insert(vertex),
            Entry::Occupied(entry) => {
                return Err(format!("a second element with the id `{}`", excerpt(entry.key())));
            }
        };
        Ok(())
    }

    fn edge(&mut self, element: &BytesStart<'_>, at: &Place) -> Result<(), String> {
        let Some(parent) = self.node else { return Ok(()) };
        let [function, child] = attributes(element, ["label", "idref"])?;
        self.edges.push(Edge { parent, function, child, at: at.clone() });
        Ok(())
    }

    /// Makes the tree, and counts discontinuous nodes; `at` is where the sentence begins.
    fn into_tree(mut self, at: &Place) -> Result<(Tree, u64), (Place, String)> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        for Edge { parent, function, child, at } in self.edges {
            let Some(&vertex) = self.vertices.get(&child) else {
                let problem = format!("there is no element with the id `{}`", excerpt(&child));
                return Err((at, problem));
            };
            if !self.graph.attach(vertex, parent, &function) {
                let problem = format!("a second edge leads to `{}`", excerpt(&child));
                return Err((at, problem));
            }
        }
        self.graph.attach_rest();
        let problem = "a node dominates itself: correct the edges";
        self.graph.into_tree().ok_or_else(|| (at.clone(), problem.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &'static str) -> TigerXmlReader {
        TigerXmlReader::new(Box::new(text.as_bytes()), "x", Encoding::Utf8)
    }

    fn next(reader: &mut TigerXmlReader) -> String {
        match reader.read() {
            Ok(tree) => tree.map_or("end".to_owned(), |tree| tree.to_string()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn sentences_are_read_with_functions_and_without_crossing_branches() {
        let mut reader = reader(
            "<?xml version=\"1.0\"?>\n<corpus id='c'><head><meta/></head><body>\n<s id='s1'><graph root='n1'>\n\
             <terminals><t id='t1' word='&quot;Er&quot;' pos='PPER'/><t id='t2' word='hat' pos='VAFIN'></t>\
             <t id='t3' word='ihn' pos='PPER'><secedge label='SB' idref='n1'/></t><t id='t4' word='nie' pos='ADV'/>\
             <t id='t5' word='20 000' pos='CARD'/><t id='t6' word='.' pos='$.'/></terminals>\n\
             <nonterminals><nt id='n1' cat='S'><edge label='SB' idref='t1'/><edge label='HD' idref='t2'/>\
             <edge label='OC' idref='n2'/><edge label='MO' idref='t4'/></nt>\n\
             <nt id='n2' cat='VP'><edge label='OA' idref='t3'/><edge label='HD' idref='t5'/></nt>\
             <nt id='v' cat='VROOT'><edge label='--' idref='n1'/></nt></nonterminals></graph></s>\n<s/></body></corpus>\n",
        );
        let expected = "(VROOT (S (PPER \"Er\") (VAFIN hat) (PPER ihn) (ADV nie) (VP-OC (CARD 20_000))) ($. .))";
        assert_eq!((next(&mut reader).as_str(), reader.facts().began), (expected, 3));
        assert_eq!(next(&mut reader), "(VROOT )");
        assert_eq!((next(&mut reader).as_str(), reader.facts().discontinuous), ("end", 1));
    }

    #[test]
    fn mistakes_are_placed_and_sentences_after_them_are_read() {
        let mut reader = reader(
            "<corpus>\n<s>\n  <t id='1' word='a'/></s>\n<s><t id='1' word='a' pos='A'/>\n<nt id='2' cat='B'>\
             <edge label='x' idref='9'/></nt></s>\n<s><t id='1' word='a' pos='A'/><t id='1' word='a' pos='A'/></s>\n\
             <s><nt id='2' cat='B'><edge label='x' idref='3'/></nt><nt id='3' cat='B'><edge label='x' idref='2'/></nt>\
             </s>\n<s><t id='1' word='&nothing;' pos='A'/></s>\n<s><s></s></s><s><t id='1' word='a' pos='A'/></s>\n\
             <s><t id='1' word='a' pos='A'></s></corpus>",
        );
        for says in [
            "x:3:3: <t> has no attribute `pos`: add it (the tree began on line 2)",
            "x:5:20: there is no element with the id `9`",
            "x:6:32: a second element with the id `1`",
            "x:7:1: a node dominates itself",
            "x:8:4: malformed attribute",
            "x:9:4: a sentence inside of a sentence",
            "(VROOT (A a))",
            "x:10:31: malformed XML, the rest is not read",
            "end",
        ] {
            let found = next(&mut reader);
            assert!(found.starts_with(says), "{found} instead of {says}");
        }
        let mut html = self::reader("<html><s></s></html>");
        assert!(next(&mut html).starts_with("x:1:1: the XML begins with <html>"));
        assert_eq!(next(&mut html), "end");
        assert!(next(&mut self::reader("<corpus><s>")).starts_with("x:1:12: the text ends inside"));
        for (text, column) in [("<corpus><s/>", 13), ("<?xml?><corpus>", 16)] {
            let mut cut = self::reader(text);
            if text.contains("<s") {
                assert_eq!(next(&mut cut), "(VROOT )");
            }
            let says = next(&mut cut);
            let expected =
                format!("x:1:{column}: the text ends inside an element: the file is cut off");
            assert!(says.starts_with(&expected), "{says}");
            assert_eq!(next(&mut cut), "end");
        }
    }

    #[test]
    fn bytes_that_are_not_text_end_reading() {
        let bytes: &[u8] = b"<corpus>\n<s>\xff</s></corpus>";
        let mut reader = TigerXmlReader::new(Box::new(bytes), "x", Encoding::Utf8);
        assert!(next(&mut reader).starts_with("x:2:4: not UTF-8 text"));
        assert_eq!(next(&mut reader), "end");
    }
}
