//! A model file that is overwritten or cut while a parser uses it.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

#[path = "common/command.rs"]
#[allow(dead_code, unreachable_pub)]
mod command;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use command::{folder, model};

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
