//! The library as WebAssembly: five functions over one buffer. Requests and answers are the JSON of the server.
//!
//! The caller asks for room ([`srparse_room`]), writes a request there, and calls [`srparse_load`], [`srparse_parse`] or
//! [`srparse_find`]. Each returns the number of bytes of a message that says why not, 0 if all is well. Then
//! [`srparse_next`] returns the number of bytes of the next line of the answer, 0 at its end. Message and lines are
//! where [`srparse_room`] of 0 bytes says. A request ends the one before.
//!
//! There are no threads, no files and no environment, and a panic is a trap: the caller starts anew.

use std::cell::RefCell;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use crate::find::HEADS;
use crate::found::{Search, Searched};
use crate::model::{Model, embedded};
use crate::parse_request::json_request::{JsonRequest, items};
use crate::parser::Parser;
use crate::tree::Tree;
use crate::tree::heads::HeadRules;

/// Lines of an answer, made when they are asked for.
type Lines = Box<dyn Iterator<Item = Vec<u8>>>;

/// What lasts from call to call.
#[derive(Default)]
struct State {
    /// Models by their names; they are never dropped.
    parsers: Vec<(String, &'static Parser)>,
    /// What the caller writes, and then what it reads.
    buffer: Vec<u8>,
    lines: Option<Lines>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

impl State {
    /// The parser of a name; the first one, or the embedded one, if there is no name.
    fn parser(&mut self, name: Option<&str>) -> Result<(&'static Parser, String), String> {
        let name = name.or(self.parsers.first().map(|(name, _)| name.as_str()));
        let name = name.unwrap_or(embedded::DEFAULT).to_owned();
        if let Some((_, parser)) = self.parsers.iter().find(|(known, _)| *known == name) {
            return Ok((parser, name));
        }
        if !embedded::is_embedded(Path::new(&name)) {
            return Err(format!("no model has the name `{name}`: load it first"));
        }
        let model = Model::open(&name).map_err(|error| error.to_string())?;
        Ok((self.add(&name, &model)?, name))
    }

    fn add(&mut self, name: &str, model: &Model) -> Result<&'static Parser, String> {
        let parser = Parser::new(model, &[]).map_err(|error| error.to_string())?;
        let parser: &'static Parser = Box::leak(Box::new(parser));
        self.parsers.retain(|(known, _)| known != name);
        self.parsers.push((name.to_owned(), parser));
        Ok(parser)
    }

    /// Loads the model whose name and bytes are in the buffer.
    fn load(&mut self, name: usize) -> Result<(), String> {
        let buffer = std::mem::take(&mut self.buffer);
        let (name, bytes) = buffer.split_at(name.min(buffer.len()));
        let name = String::from_utf8_lossy(name);
        let model = Model::from_bytes(bytes, &name).map_err(|error| error.to_string())?;
        self.add(&name, &model).map(|_| ())
    }

    fn parse(&mut self) -> Result<(), String> {
        let mut asked: JsonRequest = self.request()?;
        let input = asked.take_input()?;
        let (parser, name) = self.parser(asked.model.as_deref())?;
        let lines = asked.lines((parser, &name), input.format, usize::MAX)?;
        let mut worker = parser.worker();
        self.lines = Some(Box::new(items(parser, input).map(move |item| {
            let mut out = Vec::new();
            match lines.write(item, (parser, &mut worker), &mut out) {
                Ok(()) => out,
                Err(error) => line(&json!({ "tokens": [], "error": error.to_string() })),
            }
        })));
        Ok(())
    }

    fn find(&mut self) -> Result<(), String> {
        let asked: Asked = self.request()?;
        let heads = HeadRules::named(HEADS).map_err(|error| error.to_string())?;
        let search = Search::new(&asked.pattern, heads, asked.once);
        let search = search.map_err(|error| error.to_string())?;
        self.lines = Some(Box::new((1..).zip(asked.trees).map(move |(number, tree)| {
            let mut out = Vec::new();
            let found = tree.parse().and_then(|tree: Tree| {
                let searched = Searched { tree: &tree, number, file: None, layout: None };
                search.write_all(&tree, &mut out, |_, found, out| {
                    searched.write_json(found.position(), found, out);
                })
            });
            if let Err(error) = found {
                out.extend(line(&json!({ "tree": number, "error": error.to_string() })));
            }
            out
        })));
        Ok(())
    }

    /// Reads the request in the buffer, and ends the one before.
    fn request<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, String> {
        self.lines = None;
        let buffer = std::mem::take(&mut self.buffer);
        serde_json::from_slice(&buffer).map_err(|error| format!("the request is wrong: {error}"))
    }

    /// Puts the next lines that are not empty into the buffer; returns how many bytes they are.
    fn next(&mut self) -> usize {
        let next = self.lines.as_mut().and_then(|lines| lines.find(|line| !line.is_empty()));
        self.buffer = next.unwrap_or_default();
        if self.buffer.is_empty() {
            self.lines = None;
        }
        self.buffer.len()
    }

    /// Puts a message into the buffer; returns how many bytes it is.
    fn answered(&mut self, result: Result<(), String>) -> usize {
        self.buffer = result.err().unwrap_or_default().into_bytes();
        self.buffer.len()
    }
}

/// A search of trees in brackets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    pattern: String,
    trees: Vec<String>,
    #[serde(default)]
    once: bool,
}

fn line(value: &serde_json::Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

/// Makes room for so many bytes of a request, or with 0 leaves the buffer as it is; returns its address.
// SAFETY: nothing else has this name.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn srparse_room(bytes: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        if bytes > 0 {
            state.buffer.clear();
            state.buffer.resize(bytes, 0);
        }
        state.buffer.as_mut_ptr()
    })
}

/// Loads a model: its name, of so many bytes, and the bytes of its file.
// SAFETY: nothing else has this name.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn srparse_load(name: usize) -> usize {
    STATE.with_borrow_mut(|state| {
        let result = state.load(name);
        state.answered(result)
    })
}

/// Begins to parse what a [`JsonRequest`] asks for.
// SAFETY: nothing else has this name.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn srparse_parse() -> usize {
    STATE.with_borrow_mut(|state| {
        let result = state.parse();
        state.answered(result)
    })
}

/// Begins to search trees: an object with `pattern`, `trees` (in brackets) and, if wanted, `once`.
// SAFETY: nothing else has this name.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn srparse_find() -> usize {
    STATE.with_borrow_mut(|state| {
        let result = state.find();
        state.answered(result)
    })
}

/// Makes the next line of the answer.
// SAFETY: nothing else has this name.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn srparse_next() -> usize {
    STATE.with_borrow_mut(State::next)
}

#[cfg(all(test, feature = "english-fast"))]
mod tests {
    use super::*;

    fn ask(state: &mut State, request: &serde_json::Value) -> Result<Vec<String>, String> {
        state.buffer = request.to_string().into_bytes();
        let is_search = request.get("pattern").is_some();
        let begun = if is_search { state.find() } else { state.parse() };
        begun?;
        let mut lines = Vec::new();
        while state.next() > 0 {
            lines.push(String::from_utf8_lossy(&state.buffer).into_owned());
        }
        Ok(lines)
    }

    #[test]
    fn texts_are_parsed_and_trees_are_searched() {
        let mut state = State::default();
        let request = json!({ "text": "We sing. They read.", "model": "english-fast" });
        let lines = ask(&mut state, &request).unwrap();
        assert_eq!(lines.len(), 2);
        let parse: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
        let trees = [parse["tree"].clone(), "(".into()];
        let found = ask(&mut state, &json!({ "pattern": "NP", "trees": trees })).unwrap();
        assert!(found[0].contains("They") && found[1].contains("error"), "{found:?}");
        // The model that is there is the default now.
        let traced = ask(&mut state, &json!({ "tokens": ["We", "sing"], "trace": 3 })).unwrap();
        assert!(traced[0].contains("ranked"), "{traced:?}");
    }

    #[test]
    fn what_is_wrong_is_said_and_the_next_request_is_answered() {
        let mut state = State::default();
        for (request, problem) in [
            (json!({ "txt": "x" }), "unknown field"),
            (json!({ "model": "mine", "text": "x" }), "load it first"),
            (json!({ "pattern": "NP < (", "trees": [] }), "pattern:1:"),
        ] {
            let error = ask(&mut state, &request).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
        state.buffer = b"mine.srmnot a model".to_vec();
        assert!(state.load(8).unwrap_err().contains("mine.srm"));
        state.buffer = Model::open("english-fast").unwrap().to_bytes();
        state.buffer.splice(..0, *b"mine");
        state.load(4).unwrap();
        let lines = ask(&mut state, &json!({ "text": "We sing.", "model": "mine" })).unwrap();
        assert_eq!(lines.len(), 1);
    }
}
