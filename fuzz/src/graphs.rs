//! Any bytes as NEGRA export, TIGER-XML, Alpino XML or GENIA XML: the reader ends, and its trees survive writing and reading.

use std::io::Cursor;

use srparse::treebank::alpino_xml::AlpinoXmlReader;
use srparse::treebank::export::ExportReader;
use srparse::treebank::genia_xml::GeniaXmlReader;
use srparse::treebank::tiger_xml::TigerXmlReader;
use srparse::treebank::{Encoding, FormatReader};
use srparse::{Result, Tree};

fn check_reader(n_bytes: usize, mut read: impl FnMut() -> Result<Option<Tree>>) {
    for _ in 0..=n_bytes {
        match read() {
            Ok(Some(tree)) => {
                let again: Tree = tree.to_string().parse().expect("written trees are readable");
                assert_eq!(tree.to_string(), again.to_string());
            }
            Ok(None) => return,
            Err(_) => {}
        }
    }
    panic!("the reader does not end");
}

pub fn check(bytes: &[u8]) {
    let input = || Box::new(Cursor::new(bytes.to_vec()));
    let mut export = ExportReader::new(input(), "fuzz", Encoding::Utf8);
    check_reader(bytes.len(), || export.read());
    let mut tiger = TigerXmlReader::new(input(), "fuzz", Encoding::Utf8);
    check_reader(bytes.len(), || tiger.read());
    let mut alpino = AlpinoXmlReader::new(input(), "fuzz", Encoding::Utf8);
    check_reader(bytes.len(), || alpino.read());
    let mut genia = GeniaXmlReader::new(input(), "fuzz", Encoding::Utf8);
    check_reader(bytes.len(), || genia.read());
}
