//! What files, folders and patterns stand for, and files that are compressed or in another encoding.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use crate::command::{folder, parse, srparse, text};

const TREE: &str = "(TOP (NP (DT the) (NN dog)))\n";

/// The exit status, standard output and what was said.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = srparse(arguments).current_dir(folder).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn a_file_that_is_named_again_is_parsed_again() {
    let folder = folder(&[("a", b"dogs/NNS bark/VBP\n"), ("b", b"we/PRP sing/VBP\n")]);
    for command in ["parse", "tag"] {
        let arguments = [command, "-q", "--model", "english-fast", "a", "b", "a", "./a"];
        let (status, out, said) = run(folder.path(), &arguments);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!((status, lines.len(), lines[2], lines[3]), (0, 4, lines[0], lines[0]), "{said}");
    }
}

#[test]
fn a_damaged_gzip_file_is_an_error_that_names_it() {
    let whole = gzip("dogs/NNS bark/VBP\n".repeat(10_000).as_bytes());
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 0xff;
    let folder = folder(&[("cut.gz", &whole[..whole.len() - 20]), ("changed.gz", &changed)]);
    for name in ["cut.gz", "changed.gz"] {
        let (status, _, said) =
            run(folder.path(), &["parse", "-q", "--model", "english-fast", name]);
        assert!(status == 2 && said.contains(name), "{said}");
        assert!(said.contains("the gzip file is cut off or damaged"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn links_to_folders_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = folder(&[("a.mrg", TREE.as_bytes())]);
    let path = folder.path();
    fs::create_dir(path.join("sub")).unwrap();
    fs::write(path.join("sub/b.mrg"), TREE).unwrap();
    symlink(".", path.join("again")).unwrap();
    symlink(".", path.join("sub/here")).unwrap();
    symlink("..", path.join("sub/up")).unwrap();
    for files in [".", "**/*.mrg", "**"] {
        let (status, out, said) = run(path, &["tree", files]);
        assert_eq!((status, out.lines().count()), (0, 2), "{files}: {said}");
        assert!(
            said.contains("note: ") && said.contains("a link to a folder is not followed"),
            "{said}"
        );
        assert!(said.ends_with("read 2 trees, skipped 0\n"), "{said}");
    }
    // A link that is named is followed.
    for files in ["again", "again/**/b.mrg", "sub/here"] {
        let (status, _, said) = run(path, &["tree", files]);
        assert_eq!(status, 0, "{files}: {said}");
    }
    let (status, out, said) = run(path, &["tree", "-q", "."]);
    assert_eq!((status, out.lines().count(), said), (0, 2, String::new()));
    let (_, _, said) =
        run(path, &["train", "--model", "m.srm", "--train", "**/*.mrg", "--set", "epochs=1"]);
    assert!(said.contains("train: read 2 trees") && said.contains("not followed"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_file_is_read_once_by_whatever_paths() {
    let folder = folder(&[("a.mrg", TREE.as_bytes())]);
    let path = folder.path();
    fs::create_dir(path.join("sub")).unwrap();
    fs::write(path.join("sub/b.mrg"), TREE).unwrap();
    std::os::unix::fs::symlink("a.mrg", path.join("link.mrg")).unwrap();
    fs::hard_link(path.join("a.mrg"), path.join("z.mrg")).unwrap();
    for (arguments, twice) in [
        (&["tree", "a.mrg", "./a.mrg"][..], "./a.mrg"),
        (&["tree", "a.mrg", "link.mrg"], "link.mrg"),
        (&["tree", "a.mrg", "z.mrg"], "z.mrg"),
        (&["tree", "a.mrg", "sub/../a.m*"], "sub/../a.mrg"),
    ] {
        let (status, out, said) = run(path, arguments);
        assert_eq!((status, out.as_str()), (0, TREE), "{arguments:?}");
        let note = format!("note: {twice}: this file is read already\n");
        assert_eq!(said, format!("{note}read 1 tree, skipped 0\n"));
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_noted() {
    let folder = folder(&[("a.mrg", TREE.as_bytes()), ("c.mrg", TREE.as_bytes())]);
    let path = folder.path();
    std::os::unix::fs::symlink("absent", path.join("b.mrg")).unwrap();
    for files in [".", "?.mrg", "**/*.mrg"] {
        let (status, out, said) = run(path, &["tree", files]);
        assert_eq!((status, out.lines().count()), (0, 2), "{files}: {said}");
        assert!(said.contains("b.mrg: this link leads to no file\n"), "{said}");
    }
    let (status, out, said) = run(path, &["tree", "a.mrg", "b.mrg"]);
    assert_eq!((status, out), (2, String::new()), "{said}");
    assert!(said.contains("b.mrg: No such file"), "{said}");
}

#[test]
fn gzip_is_recognized_whatever_the_name() {
    let twice = [gzip(TREE.as_bytes()), gzip(TREE.as_bytes())].concat();
    let folder = folder(&[("a", &twice), ("b.gz", &twice), ("c.gz", TREE.as_bytes())]);
    for (file, trees) in [("a", 2), ("b.gz", 2), ("c.gz", 1)] {
        let (status, out, said) = run(folder.path(), &["tree", "-q", file]);
        assert_eq!((status, out, said), (0, TREE.repeat(trees), String::new()), "{file}");
    }
    let piped = srparse(&["tree", "-q"]).arg("-").write_stdin(twice).output().unwrap();
    assert_eq!(text(&piped.stdout), TREE.repeat(2));
    let piped = parse(&["-q"]).write_stdin(gzip(b"the/DT dog/NN\n")).output().unwrap();
    assert!(text(&piped.stdout).starts_with("(TOP"), "{piped:?}");
}

#[test]
fn other_compressions_and_encodings_are_named() {
    let utf16: Vec<u8> = "\u{feff}(A b)".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let folder = folder(&[
        ("a.xz", b"\xfd7zXZ\0\0\x04..."),
        ("b.zst", b"\x28\xb5\x2f\xfd\x04..."),
        ("c", b"BZh91AY&SY..."),
        ("d.mrg", &utf16),
        ("e.mrg", &utf16[2..]),
        ("f.mrg", b"\xff\xfe\0\0(\0\0\0"),
        ("g.docx", b"PK\x03\x04\x14\0"),
        ("h.doc", b"\xd0\xcf\x11\xe0\xa1\xb1"),
        ("i.pdf", b"%PDF-1.4\nDogs bark.\n"),
    ]);
    for (file, says) in [
        ("a.xz", "compressed by xz, and only gzip is read: write xz -dc 'a.xz' | srparse …"),
        ("b.zst", "compressed by zstd, and only gzip is read: write zstd -dc 'b.zst' | srparse …"),
        ("c", "compressed by bzip2, and only gzip is read: write bzip2 -dc 'c' | srparse …"),
        ("d.mrg", "UTF-16 text: convert it, as with iconv -f UTF-16 -t UTF-8 'd.mrg'"),
        ("e.mrg", "UTF-16 text: convert it, as with iconv -f UTF-16 -t UTF-8 'e.mrg'"),
        ("f.mrg", "UTF-32 text: convert it, as with iconv -f UTF-32 -t UTF-8 'f.mrg'"),
        (
            "g.docx",
            "a zip archive or a document such as .docx or .odt, not plain text: save it as text first",
        ),
        ("h.doc", "a document such as .doc, not plain text: save it as text first"),
        ("i.pdf", "a PDF document, not plain text: save it as text first"),
    ] {
        for command in ["tree", "parse"] {
            let (status, out, said) = run(folder.path(), &[command, "--skip-bad", file]);
            assert_eq!((status, out), (2, String::new()), "{command}");
            assert_eq!(said, format!("error: {file}: {says}\n"));
        }
    }
}

#[test]
fn the_name_of_the_output_says_whether_it_is_compressed() {
    let folder = folder(&[("a.mrg", TREE.as_bytes())]);
    for file in ["b.mrg.gz", "c.GZ"] {
        let (status, _, said) = run(folder.path(), &["tree", "-q", "-o", file, "a.mrg"]);
        assert_eq!((status, said), (0, String::new()));
        let mut read = String::new();
        let bytes = fs::read(folder.path().join(file)).unwrap();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut read).unwrap();
        assert_eq!(read, TREE);
    }
    let (_, stdout, _) = run(folder.path(), &["tree", "-q", "-o", "-", "a.mrg"]);
    assert!(stdout.starts_with('(') && !folder.path().join("-").exists(), "{stdout}");
    let (status, _, said) = run(folder.path(), &["tree", "-o", "d.xz", "a.mrg"]);
    assert!(status == 2 && said.contains("--out d.xz: only gzip is written"), "{said}");
    assert!(!folder.path().join("d.xz").exists());
}

#[test]
fn an_encoding_that_is_given_overrides_what_xml_declares() {
    let xml = |declared: &str| {
        format!(
            "<?xml version='1.0' encoding='{declared}'?>\n<corpus><body><s><graph><terminals>\
             <t id='1' word='für' pos='A'/></terminals></graph></s></body></corpus>\n"
        )
    };
    let (as_latin, as_utf8) = (xml("ISO-8859-1"), xml("UTF-8"));
    let latin: Vec<u8> = as_utf8.chars().map(|c| c as u8).collect();
    let folder = folder(&[("u.xml", as_latin.as_bytes()), ("l.xml", &latin)]);
    let words = |options: &[&str]| {
        run(folder.path(), &[&["tree", "-q", "--output", "tagged"], options].concat()).1
    };
    assert_eq!(words(&["u.xml"]), "f\u{c3}\u{bc}r/A\n");
    assert_eq!(words(&["--encoding", "auto", "u.xml"]), "f\u{c3}\u{bc}r/A\n");
    assert_eq!(words(&["--encoding", "utf-8", "u.xml"]), "für/A\n");
    assert_eq!(words(&["--encoding", "latin-1", "l.xml"]), "für/A\n");
}
