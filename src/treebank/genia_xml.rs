//! The XML of the GENIA Treebank: phrases as nested elements.
//!
//! ```xml
//! <annotation><PubmedArticleSet><PubmedArticle><PMID>123</PMID>
//!   <sentence id="s1">
//!     <cons cat="S"><cons cat="NP" role="SBJ" id="i1"><tok cat="NNS">Cells</tok></cons>
//!       <cons cat="VP"><tok cat="VBP">grow</tok><cons cat="NP" null="NONE" ref="i1"/></cons></cons>
//!     <tok cat=".">.</tok>
//!   </sentence>
//! ```
//!
//! The role is joined to the category by a hyphen (`NP-SBJ`). An element with `null` is a node over a trace, `(NP (-NONE-
//! *))`. Other elements and attributes are skipped; so is what is outside of sentences.

use std::io::Read;

use quick_xml::events::{BytesStart, Event};

use super::input::Encoding;
use super::penn::excerpt;
use super::tree_reader::{FormatReader, TreeFacts};
use super::xml::{Xml, attributes, foreign, optional};
use crate::error::{Error, Place, Result};
use crate::tree::{TRACE, Tree, TreeBuilder};

/// Reads the sentences of one stream as trees.
pub struct GeniaXmlReader {
    xml: Xml,
    state: State,
}

/// Where the reader is.
#[derive(Default)]
struct State {
    /// The ID is that of the sentence after the number of its article: `123.s1`.
    facts: TreeFacts,
    /// The number of the article, and whether it is being read.
    article: String,
    is_in_number: bool,
    /// Whether an element has been read.
    begun: bool,
    sentence: Option<Sentence>,
}

/// A sentence as far as it has been read.
struct Sentence {
    builder: TreeBuilder,
    /// For each open `cons`, whether it is a node.
    open: Vec<bool>,
    /// The tag and the text of the open token.
    token: Option<(String, String)>,
    /// The first error.
    problem: Option<(Place, String)>,
}

impl GeniaXmlReader {
    /// Returns a reader of a stream; messages call it `name`.
    pub fn new(reader: Box<dyn Read + Send>, name: impl Into<String>, encoding: Encoding) -> Self {
        Self { xml: Xml::new(reader, name, encoding), state: State::default() }
    }
}

impl FormatReader for GeniaXmlReader {
    fn read(&mut self) -> Result<Option<Tree>> {
        self.state.sentence = None;
        while let Some((event, at)) = self.xml.next()? {
            let step = match event {
                Event::Start(element) => self.state.begin(&element, false, at),
                Event::Empty(element) => self.state.begin(&element, true, at),
                event => Ok(self.state.content(&event, at)),
            };
            match step {
                Ok(false) => {}
                Ok(true) => return self.state.tree(),
                Err(error) => {
                    self.xml.end();
                    return Err(error);
                }
            }
        }
        let State { sentence, facts, .. } = &self.state;
        self.xml.check_end(sentence.as_ref().map(|_| facts.began)).map(|()| None)
    }

    fn facts(&self) -> &TreeFacts {
        &self.state.facts
    }
}

impl State {
    /// Takes an element; returns whether it is a whole sentence.
    fn begin(&mut self, element: &BytesStart<'_>, is_empty: bool, at: Place) -> Result<bool> {
        let is_first = !std::mem::replace(&mut self.begun, true);
        match (element.local_name().as_ref(), &mut self.sentence) {
            ("sentence", None) => {
                self.facts.began = at.line;
                // A malformed attribute is no ID.
                let id = optional(element, ["id"]).ok().and_then(|[id]| id);
                self.facts.id = id.map(|id| match self.article.trim() {
                    "" => id,
                    article => format!("{article}.{id}"),
                });
                self.sentence = Some(Sentence::new());
                return Ok(is_empty);
            }
            (_, Some(sentence)) => sentence.begin(element, is_empty, at),
            ("PMID", None) => {
                self.article.clear();
                self.is_in_number = !is_empty;
            }
            ("annotation" | "PubmedArticleSet", None) => {}
            (other, None) if is_first => return Err(foreign(other, at)),
            _ => {}
        }
        Ok(false)
    }

    /// Takes text or the end of an element; returns whether it ends a sentence.
    fn content(&mut self, event: &Event<'_>, at: Place) -> bool {
        if let Event::End(end) = event {
            self.is_in_number = false;
            if end.local_name().as_ref() == "sentence" {
                return self.sentence.is_some();
            }
        }
        match &mut self.sentence {
            Some(sentence) => sentence.content(event, at),
            None if self.is_in_number => self.article.push_str(&text(event).unwrap_or_default()),
            None => {}
        }
        false
    }

    /// The tree of the sentence.
    fn tree(&mut self) -> Result<Option<Tree>> {
        let Some(mut sentence) = self.sentence.take() else { return Ok(None) };
        if let Some((at, problem)) = sentence.problem {
            return Err(Error::Tree { at, began: self.facts.began, problem });
        }
        sentence.builder.close();
        Ok(Some(sentence.builder.finish()))
    }
}

impl Sentence {
    fn new() -> Self {
        let mut builder = TreeBuilder::new();
        builder.open("");
        Self { builder, open: Vec::new(), token: None, problem: None }
    }

    fn fails(&mut self, at: Place, problem: String) {
        self.problem.get_or_insert((at, problem));
    }

    fn begin(&mut self, element: &BytesStart<'_>, is_empty: bool, at: Place) {
        let begun = match element.local_name().as_ref() {
            "cons" => self.node(element, is_empty),
            "tok" if self.token.is_some() => {
                Err("a <tok> inside of a <tok>: close the first".to_owned())
            }
            "tok" => attributes(element, ["cat"]).and_then(|[tag]| {
                if is_empty {
                    return Err("<tok> has no word: add it".to_owned());
                }
                self.token = Some((tag, String::new()));
                Ok(())
            }),
            "sentence" => Err("a sentence inside of a sentence: close the first".to_owned()),
            _ => Ok(()),
        };
        if let Err(problem) = begun {
            self.fails(at, problem);
        }
    }

    fn node(&mut self, element: &BytesStart<'_>, is_empty: bool) -> Result<(), String> {
        if !is_empty {
            self.open.push(false);
        }
        if self.token.is_some() {
            return Err("a <cons> inside of a <tok>: close the token first".to_owned());
        }
        let [category] = attributes(element, ["cat"])?;
        let [role, null] = optional(element, ["role", "null"])?;
        let role = role.filter(|role| !role.is_empty());
        self.builder.open(role.map_or(category.clone(), |role| format!("{category}-{role}")));
        if null.is_some() {
            self.builder.token("*", TRACE);
        }
        match self.open.last_mut() {
            Some(is_node) if !is_empty => *is_node = true,
            _ => self.builder.close(),
        }
        Ok(())
    }

    /// Takes text, or the end of an element.
    fn content(&mut self, event: &Event<'_>, at: Place) {
        if let Event::End(end) = event {
            match end.local_name().as_ref() {
                "cons" if self.open.pop() == Some(true) => self.builder.close(),
                "tok" => match self.token.take() {
                    Some((_, word)) if word.trim().is_empty() => {
                        self.fails(at, "<tok> has no word: add it".to_owned());
                    }
                    Some((tag, word)) => self.builder.token(word.trim(), tag),
                    None => {}
                },
                _ => {}
            }
            return;
        }
        let problem = match (text(event), &mut self.token) {
            (Err(problem), _) => problem,
            (Ok(text), Some((_, word))) => {
                word.push_str(&text);
                return;
            }
            (Ok(text), None) if text.trim().is_empty() => return,
            (Ok(text), None) => format!(
                "`{}` is outside of any <tok>: put each word into one, with its tag",
                excerpt(text.trim())
            ),
        };
        self.fails(at, problem);
    }
}

/// The text of an event: nothing for comments and instructions.
fn text(event: &Event<'_>) -> Result<String, String> {
    match event {
        Event::Text(text) => Ok(text.xml10_content().into_owned()),
        Event::CData(text) => Ok(text.xml10_content().into_owned()),
        Event::GeneralRef(name) => {
            let unknown = || format!("the entity `&{};` is unknown: write its character", &**name);
            match name.resolve_char_ref() {
                Ok(Some(character)) => Ok(character.into()),
                Ok(None) => quick_xml::escape::resolve_predefined_entity(name)
                    .map(str::to_owned)
                    .ok_or_else(unknown),
                Err(_) => Err(unknown()),
            }
        }
        _ => Ok(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(reader: &mut GeniaXmlReader) -> String {
        match reader.read() {
            Ok(tree) => tree.map_or("end".to_owned(), |tree| tree.to_string()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn roles_are_functions_and_null_elements_are_traces() {
        let text = "<?xml version='1.0'?>\n<annotation><PubmedArticleSet><PubmedArticle><PMID>12</PMID>\n\
             <sentence id='s1'><cons cat='S'><cons cat='NP' role='SBJ' id='i1'><tok cat='NNS'>A&amp;B&#x3b1;</tok></cons> \
             <cons cat='VP'><tok cat='VBP'>grow</tok> <cons cat='NP' null='NONE' ref='i1'/></cons></cons>\
             <tok cat='.'>.</tok></sentence><sentence/></PubmedArticle></PubmedArticleSet></annotation>";
        let (whole, cut) = (text, text.rsplit_once("</PubmedArticle>").unwrap().0);
        let mut cut = GeniaXmlReader::new(Box::new(cut.as_bytes()), "x", Encoding::Utf8);
        assert_eq!([next(&mut cut).len(), next(&mut cut).len()], [65, 4]);
        assert!(next(&mut cut).contains("the text ends inside an element"));
        let mut reader = GeniaXmlReader::new(Box::new(whole.as_bytes()), "x", Encoding::Utf8);
        let expected = "( (S (NP-SBJ (NNS A&Bα)) (VP (VBP grow) (NP (-NONE- *)))) (. .))";
        assert_eq!(next(&mut reader), expected);
        assert_eq!((reader.facts().began, reader.facts().id.as_deref()), (3, Some("12.s1")));
        assert_eq!((next(&mut reader).as_str(), reader.facts().id.as_deref()), ("(())", None));
        assert_eq!(next(&mut reader), "end");
    }

    #[test]
    fn mistakes_are_placed_and_sentences_after_them_are_read() {
        let text = "<annotation>\n<sentence> a</sentence>\n<sentence><cons><tok cat='A'>a</tok></cons></sentence>\n\
             <sentence><tok>a</tok></sentence>\n<sentence><tok cat='A'> </tok></sentence>\n\
             <sentence><tok cat='A'>&alpha;</tok></sentence>\n<sentence><tok cat='A'/></sentence>\n\
             <sentence><tok cat='A'>a<tok cat='A'></tok></tok></sentence>\n\
             <sentence><tok cat='A'>a</tok></sentence>\n<sentence>";
        let mut reader = GeniaXmlReader::new(Box::new(text.as_bytes()), "x", Encoding::Utf8);
        for says in [
            "x:2:11: `a` is outside of any <tok>",
            "x:3:11: <cons> has no attribute `cat`: add it",
            "x:4:11: <tok> has no attribute `cat`: add it",
            "x:5:25: <tok> has no word: add it",
            "x:6:24: the entity `&alpha;` is unknown",
            "x:7:11: <tok> has no word: add it",
            "x:8:25: a <tok> inside of a <tok>",
            "( (A a))",
            "x:10:11: the text ends inside the sentence",
            "end",
        ] {
            let found = next(&mut reader);
            assert!(found.starts_with(says), "{found} instead of {says}");
        }
        let mut html = GeniaXmlReader::new(Box::new(&b"<html/>"[..]), "x", Encoding::Utf8);
        assert!(next(&mut html).starts_with("x:1:1: the XML begins with <html>"));
    }
}
