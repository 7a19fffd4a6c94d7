//! Layers point downwards only, and unsafe code stands in few files: reads every file of the library.

use std::path::{Path, PathBuf};

/// The layers from the bottom up; modules of one line may use each other. Trees stand below symbols: a
/// sentence in numbers is made of tokens, a tree knows of no numbers.
const LAYERS: [&[&str]; 39] = [
    &["error"],
    &["by_kind"],
    &["hash"],
    &["escapes"],
    &["observer"],
    &["output"],
    &["text_file"],
    &["built_in"],
    &["parallel"],
    &["sort"],
    &["memory"],
    &["pieces"],
    &["neural"],
    &["checkpoint"],
    &["tree"],
    &["find"],
    &["symbols"],
    &["text"],
    &["treebank"],
    &["transition"],
    &["oracle"],
    &["feature"],
    &["classifier"],
    &["encoder"],
    &["scorer"],
    &["model"],
    &["decode"],
    &["eval"],
    &["tagger"],
    &["preset"],
    &["parser"],
    &["inspect"],
    &["train"],
    &["parse_request"],
    &["found"],
    &["web"],
    &["serve"],
    &["experiment"],
    &["cli"],
];

/// What a layer does not use although it stands above it: parsing needs no treebank, and no training.
const NEVER: [(&str, &[&str]); 5] = [
    ("decode", &["treebank"]),
    ("parser", &["inspect", "train"]),
    ("parse_request", &["train"]),
    ("serve", &["train"]),
    ("web", &["train"]),
];

/// The height of a layer; what `lib.rs` exports again from `error` is of that layer.
fn height(layer: &str) -> Option<usize> {
    let layer = if layer.starts_with(char::is_uppercase) { "error" } else { layer };
    LAYERS.iter().position(|names| names.contains(&layer))
}

/// The layers that code names, each with its line: `a` of `crate::a::…`, all of `crate::{a, b::…}`.
fn named(code: &str) -> Vec<(usize, String)> {
    let first = |path: &str| -> String {
        path.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        // `some_crate::` is another thing.
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let line = 1 + code[..at].matches('\n').count();
        let path = &code[at + "crate::".len()..];
        let Some(group) = path.strip_prefix('{') else {
            names.push((line, first(path)));
            continue;
        };
        let (mut depth, mut part) = (0, 0);
        for (end, c) in group.char_indices() {
            if depth == 0 && (c == ',' || c == '}') {
                names.push((line, first(&group[part..end])));
                part = end + 1;
            }
            if depth == 0 && c == '}' {
                break;
            }
            depth += i32::from(c == '{') - i32::from(c == '}');
        }
    }
    names.retain(|(_, name)| !name.is_empty());
    names
}

/// The text without comments and without the unit tests at its end, lines kept.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// All Rust files below a folder.
fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// Every path of a file that leads upwards, as `file:line: layer`.
fn upward(name: &str, text: &str) -> Vec<String> {
    let own = name.split(['/', '.']).next().unwrap_or_default();
    let leads_up = |layer: &str| match (height(own), height(layer)) {
        (Some(here), Some(there)) => there > here,
        _ => true,
    };
    let never = NEVER.iter().find(|(name, _)| *name == own).map_or(&[][..], |(_, never)| never);
    let mut found = named(&code_of(text));
    found.retain(|(_, layer)| leads_up(layer) || never.contains(&layer.as_str()));
    found.iter().map(|(line, layer)| format!("{name}:{line}: {layer}")).collect()
}

#[test]
fn no_layer_uses_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    let mut found = Vec::new();
    for file in &files {
        let name = file.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
        let is_root = ["lib.rs", "main.rs"].contains(&name.as_str());
        if !is_root && !name.ends_with("tests.rs") {
            found.extend(upward(&name, &std::fs::read_to_string(file).unwrap()));
        }
    }
    assert!(files.len() > LAYERS.len(), "{} files", files.len());
    assert!(found.is_empty(), "layers point downwards only:\n{}", found.join("\n"));
}

/// The files with unsafe code, and how often. Next to each place stands a proof; tests that try it are in brackets.
const UNSAFE: [(&str, usize); 6] = [
    // Whether standard output was closed from the beginning (tests/command/pipes.rs).
    ("cli/closed_streams.rs", 1),
    // Which signals were ignored (tests/command/interrupts.rs).
    ("cli/interrupts.rs", 2),
    // A message instead of a bus error (tests/command/replaced_model.rs).
    ("cli/changed_models.rs", 2),
    // A mapped file (tests/command/replaced_model.rs).
    ("model/file.rs", 1),
    // An instruction without an intrinsic function; functions for the instruction sets of the processor (their own tests, and
    // fuzzing with a sanitizer).
    ("neural/inference/bytes/arm.rs", 2),
    ("neural/instructions.rs", 1),
];

#[test]
fn unsafe_code_stands_in_listed_files_with_its_proof() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for source in ["src", "python/src"].map(|folder| root.join(folder)) {
        let mut files = Vec::new();
        rust_files(&source, &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let blocks = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            let blocks: usize = blocks.map(|line| line.matches("unsafe {").count()).sum();
            let allowed = text.matches("allow(unsafe_code)").count();
            assert_eq!(allowed, text.matches("// SAFETY: ").count(), "{}", file.display());
            let attributes = text.matches("#[unsafe(").count();
            assert!(allowed <= blocks + attributes, "{}", file.display());
            if blocks > 0 || text.contains("unsafe fn") || text.contains("unsafe impl") {
                let name = file.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
                found.push((name, blocks));
            }
        }
    }
    found.sort();
    let mut listed = UNSAFE.map(|(name, blocks)| (name.to_owned(), blocks));
    listed.sort();
    assert_eq!(found, listed);
}

#[test]
fn every_module_of_the_library_has_a_layer() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let text = std::fs::read_to_string(library).unwrap();
    let modules: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let lost: Vec<&&str> = modules.iter().filter(|module| height(module).is_none()).collect();
    assert!(!modules.is_empty() && lost.is_empty(), "no layer for {lost:?} of {modules:?}");
}

#[test]
fn an_upward_path_is_found_however_it_is_written() {
    let text = "use crate::tree::Tree;\nlet x = crate::cli::run(); // crate::eval\n\
                use crate::{\n    Error,\n    decode::{a, b},\n    eval,\n};\n\
                #[cfg(test)]\nmod tests {\n    use crate::cli;\n";
    let found = ["feature/mod.rs:2: cli", "feature/mod.rs:3: decode", "feature/mod.rs:3: eval"];
    assert_eq!(upward("feature/mod.rs", text), found);
    assert_eq!(upward("tree/mod.rs", "use crate::symbols::Label;"), ["tree/mod.rs:1: symbols"]);
    assert_eq!(
        upward("decode/mod.rs", "use crate::treebank::Cleaning;"),
        ["decode/mod.rs:1: treebank"]
    );
    assert_eq!(upward("symbols.rs", "use crate::tree::Token;"), [""; 0]);
}
