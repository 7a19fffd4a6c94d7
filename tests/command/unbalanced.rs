//! Trees whose brackets do not balance: one answer for each sentence, and the other sentences as ever.

use std::io::Cursor;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use srparse::treebank::{Encoding, InputFormat, Item, Sentences};

use crate::command::{folder, parse, srparse, text};

/// Trees of one line each.
const TREES: [&str; 6] = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))",
    "(S (NP (PRP it)) (VP (VBZ sees) (NP (DT a) (JJ red) (NN cat))) (. .))",
    "(NP (NNS stones) (PP (IN of) (NP (NN clay))))",
    "(S (VP (VB go) (ADVP (RB home))) (. !))",
    "(FRAG (UH oh))",
    "(S (NP (NN rain)) (VP (VBZ falls) (PP (IN on) (NP (NNS roofs)))) (. .))",
];

/// The ways to write a tree over lines.
#[derive(Debug, Clone, Copy)]
enum Layout {
    Line,
    LineWithTop,
    Bare,
    Indented,
    IndentedBare,
}

const LAYOUTS: [Layout; 5] =
    [Layout::Line, Layout::LineWithTop, Layout::Bare, Layout::Indented, Layout::IndentedBare];

fn laid_out(tree: &str, layout: Layout) -> String {
    match layout {
        Layout::Line => tree.to_owned(),
        Layout::LineWithTop => format!("(TOP {tree})"),
        Layout::Bare => format!("( {tree})"),
        Layout::Indented => tree.replacen(" (", "\n  (", 3),
        Layout::IndentedBare => format!("( {})", tree.replacen(" (", "\n    (", 2)),
    }
}

/// What becomes of each sentence, surplus text aside.
fn answers(bytes: &str) -> Vec<String> {
    let input = Box::new(Cursor::new(bytes.to_owned().into_bytes()));
    let items = Sentences::from_reader(input, "t", InputFormat::Penn, Encoding::Utf8);
    let answer = |item: Item| match item {
        Item::Sentence(tokens, _) => Some(tokens.iter().map(|t| t.word.as_str()).collect()),
        Item::Missing(missing) if missing.problem().is_some() => Some("bad".to_owned()),
        Item::Missing(_) => Some("blank".to_owned()),
        Item::Stray { .. } => None,
    };
    items.filter_map(|item| answer(item.unwrap())).collect()
}

/// One bracket more or fewer, but no new one in the first column of a later line, where trees begin, and the first
/// bracket stays if it has no label: what remains could be the rest of the tree before.
fn mutated(tree: &str, rng: &mut ChaCha8Rng) -> String {
    let mut bytes = tree.as_bytes().to_vec();
    if rng.random_bool(0.5) {
        let brackets: Vec<usize> =
            (0..bytes.len()).filter(|&at| matches!(bytes[at], b'(' | b')')).collect();
        let brackets = &brackets[usize::from(tree.starts_with("( (") && tree.contains('\n'))..];
        bytes.remove(brackets[rng.random_range(0..brackets.len())]);
    } else {
        let bracket = if rng.random_bool(0.5) { b'(' } else { b')' };
        let places: Vec<usize> =
            (0..=bytes.len()).filter(|&at| at == 0 || bytes[at - 1] != b'\n').collect();
        bytes.insert(places[rng.random_range(0..places.len())], bracket);
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn one_bracket_too_many_or_too_few_spoils_one_sentence() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for layout in LAYOUTS {
        let trees: Vec<String> = TREES.iter().map(|tree| laid_out(tree, layout)).collect();
        let whole = answers(&format!("{}\n", trees.join("\n")));
        assert_eq!(whole.len(), TREES.len());
        for round in 0..2000 {
            let victim = rng.random_range(0..trees.len());
            let mut broken = trees.clone();
            broken[victim] = mutated(&trees[victim], &mut rng);
            let text = format!("{}\n", broken.join("\n"));
            let found = answers(&text);
            let mut expected = whole.clone();
            if let (true, Some(answer)) = (found.len() == expected.len(), found.get(victim)) {
                expected[victim].clone_from(answer);
            }
            assert_eq!(found, expected, "{layout:?}, round {round}:\n{text}");
        }
    }
}

#[test]
fn whole_trees_are_read_wherever_their_lines_begin() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for layout in [Layout::LineWithTop, Layout::Bare] {
        let trees = TREES.map(|tree| laid_out(tree, layout));
        let whole = answers(&format!("{}\n", trees.join("\n")));
        for round in 0..1000 {
            let margin = ["", "  ", "\t"][rng.random_range(0..3)];
            let mut text = String::new();
            for tree in &trees {
                text += margin;
                // The brackets of a root without a label stay together.
                let (root, rest) = tree.split_at(2);
                text += root;
                for (at, part) in rest.split(" (").enumerate() {
                    let indentation = ["", margin, "    "][rng.random_range(0..3)];
                    match at {
                        0 => {}
                        _ if rng.random_bool(0.5) => text += &format!("\n{indentation}("),
                        _ => text += " (",
                    }
                    text += part;
                }
                text += "\n";
            }
            assert_eq!(answers(&text), whole, "{layout:?}, round {round}:\n{text}");
        }
    }
}

#[test]
fn trees_that_share_a_line_are_all_read() {
    let text = "(S (A a)) (S (B b))(S (C c))\n(S (D d))\n  (S (E e))\n  (S (F f))\n";
    assert_eq!(answers(text), ["a", "b", "c", "d", "e", "f"]);
}

#[test]
fn every_command_names_what_is_bad() {
    let good = format!("{}\n", TREES.join("\n"));
    let mut trees = TREES.map(str::to_owned);
    // The third tree ends too early.
    trees[2] = trees[2].replacen("stones)", "stones))", 1);
    let bad = format!("{}\n", trees.join("\n"));
    let folder = folder(&[("good.mrg", good.as_bytes()), ("bad.mrg", bad.as_bytes())]);
    let run = |mut command: assert_cmd::Command| {
        let output = command.current_dir(&folder).output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for threads in ["1", "2"] {
        let (status, out, said) = run(parse(&["--input", "penn", "-j", threads, "bad.mrg"]));
        assert_eq!(status, Some(2), "{said}");
        assert_eq!(out.lines().count(), TREES.len(), "{out}");
        assert!(said.contains("bad.mrg:3:19: unbalanced"), "{said}");
        assert!(said.contains("read 6 trees, skipped 1"), "{said}");
    }
    for line in [
        "tree bad.mrg",
        "oracle --stats bad.mrg",
        "eval good.mrg bad.mrg",
        "eval bad.mrg good.mrg",
        "compare good.mrg good.mrg bad.mrg",
        "train --train bad.mrg --model m.srm",
    ] {
        let (status, _, said) = run(srparse(&line.split(' ').collect::<Vec<_>>()));
        assert_eq!(status, Some(2), "{line}: {said}");
        assert!(said.contains("bad.mrg:3:"), "{line}: {said}");
    }
    for line in ["tree --skip-bad bad.mrg", "oracle --stats --skip-bad bad.mrg"] {
        let (status, _, said) = run(srparse(&line.split(' ').collect::<Vec<_>>()));
        assert_eq!(status, Some(0), "{line}: {said}");
        assert!(said.contains("skipped 1 (bad.mrg:3: unbalanced"), "{line}: {said}");
    }
}
