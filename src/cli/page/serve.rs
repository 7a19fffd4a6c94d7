//! The page of a server: a text is parsed when it is asked for.

use askama::Template;
use serde::Serialize;

use super::{END, TREE_SCRIPT, begin, write_line};

/// The page.
#[derive(Template)]
#[template(path = "serve.html")]
struct ServePage {
    title: String,
    tree_script: &'static str,
    player_script: &'static str,
    export_script: &'static str,
    http_script: &'static str,
    script: &'static str,
}

/// The settings of the server that its scripts know.
#[derive(Serialize)]
struct Known<'m> {
    models: Vec<NamedModel<'m>>,
}

#[derive(Serialize)]
struct NamedModel<'m> {
    name: &'m str,
}

/// The page of a server of models with these names.
pub(in crate::cli) fn page<'m>(names: impl Iterator<Item = &'m str>) -> String {
    let template = ServePage {
        title: "srparse".to_owned(),
        tree_script: TREE_SCRIPT,
        player_script: include_str!("player.js"),
        export_script: include_str!("export.js"),
        http_script: include_str!("http.js"),
        script: include_str!("serve.js"),
    };
    let mut out = Vec::new();
    let known = Known { models: names.map(|name| NamedModel { name }).collect() };
    // Writing to memory does not fail.
    let _ = begin(&template, &mut out).and_then(|()| write_line(&known, &mut out));
    out.extend_from_slice(END);
    String::from_utf8_lossy(&out).into_owned()
}
