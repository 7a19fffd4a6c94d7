//! The page of a server: a text is parsed when it is asked for.

use askama::Template;
use serde_json::{Value, json};

use super::{END, begin, write_line};

const EXPORT_SCRIPT: &str = include_str!("export.js");
const HTTP_SCRIPT: &str = include_str!("http.js");
const SERVE_SCRIPT: &str = include_str!("serve.js");

/// The page.
#[derive(Template)]
#[template(path = "serve.html")]
struct ServePage {
    title: &'static str,
}

/// The page of a server of models with these names.
pub(in crate::cli) fn page<'m>(names: impl Iterator<Item = &'m str>) -> String {
    let mut out = Vec::new();
    let models: Vec<Value> = names.map(|name| json!({ "name": name })).collect();
    // Writing to memory does not fail.
    let _ = begin(&ServePage { title: "srparse" }, &mut out)
        .and_then(|()| write_line(&json!({ "models": models }), &mut out));
    out.extend_from_slice(END);
    String::from_utf8_lossy(&out).into_owned()
}
