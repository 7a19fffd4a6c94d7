//! A model file that is overwritten or cut while a parser uses it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use srparse::Model;

use crate::command::{folder, model, sample, srparse};

#[test]
fn the_parser_goes_on_with_the_model_it_has() {
    for bytes in [0, 4096, 1 << 20] {
        let folder = folder(&[]);
        let path = folder.path().join("m.srm");
        fs::copy(model(), &path).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_srparse"))
            .args(["parse", "-q", "--model"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        input.write_all(b"the/DT dog/NN barks/VBZ ./.\n").unwrap();
        let before = lines.next().unwrap().unwrap();
        // In place: the file stays the same one.
        fs::write(&path, vec![7; bytes]).unwrap();
        input.write_all(b"the/DT dog/NN barks/VBZ ./.\n").unwrap();
        drop(input);
        assert_eq!(lines.next().unwrap().unwrap(), before);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{bytes} bytes");
    }
}

/// A change of a model file in place.
#[derive(Debug, Clone, Copy)]
enum Change {
    Cut,
    Overwritten,
}

#[test]
fn a_mapped_model_that_is_changed_ends_the_parser_with_a_message() {
    for change in [Change::Cut, Change::Overwritten] {
        let folder = folder(&[]);
        let path = folder.path().join("m.srm");
        // A decision tree: its nodes are positions.
        let preset = ["train", "-q", "--preset", "kalt-2004-sr-l", "--no-tagger", "--train"];
        let mut train = srparse(&preset);
        train.arg(sample("train.mrg")).arg("--model").arg(&path).assert().success();
        // Large models are mapped.
        let mut large = Model::open(&path).unwrap();
        large.sections.put::<u8>("padding", vec![0; 64 << 20].into());
        // Before the weights, which are then far beyond what is left.
        large.sections.0.rotate_right(1);
        large.save(&path).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_srparse"))
            .args(["parse", "-q", "--model"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        input.write_all(b"the/DT dog/NN barks/VBZ ./.\n").unwrap();
        assert!(lines.next().unwrap().unwrap().starts_with("(TOP "));
        let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        match change {
            Change::Cut => file.set_len(4096).unwrap(),
            Change::Overwritten => {
                let length = file.metadata().unwrap().len() as usize;
                file.write_all(&vec![1; length]).unwrap();
            }
        }
        input.write_all(b"the/DT cat/NN sleeps/VBZ ./.\n").unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{change:?}: {:?} {said}", output.status);
        assert_eq!(
            said,
            "error: a model file was changed while it was in use: replace it by renaming another file\n"
        );
    }
}
