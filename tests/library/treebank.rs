//! Treebank files as users have them: good, odd and broken.

use std::io::Read;
use std::path::PathBuf;

use proptest::prelude::*;
use srparse::error::Error;
use srparse::tree::{Token, Tree, TreeBuilder};
use srparse::treebank::penn::{PennReader, write_line, write_pretty};
use srparse::treebank::{Encoding, InputFormat, Item, ReadOptions, Sentences, Trees, read_all};

fn reader(text: &[u8]) -> PennReader<&[u8]> {
    PennReader::new(text, "t.mrg", Encoding::Utf8)
}

fn read(text: &str) -> Result<Vec<Tree>, Error> {
    let mut reader = reader(text.as_bytes());
    let mut trees = Vec::new();
    while let Some(tree) = reader.read()? {
        trees.push(tree);
    }
    Ok(trees)
}

fn line(tree: &Tree) -> String {
    let mut out = Vec::new();
    write_line(tree, &mut out).unwrap();
    String::from_utf8(out).unwrap().trim_end().to_owned()
}

fn pretty(tree: &Tree) -> String {
    let mut out = Vec::new();
    write_pretty(tree, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn lines(text: &str) -> Vec<String> {
    read(text).unwrap().iter().map(line).collect()
}

fn message(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// Gives one byte at a time, as a slow pipe may.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let Some((&first, rest)) = self.0.split_first() else { return Ok(0) };
        buf[0] = first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn trees_share_lines_and_spread_over_lines() {
    let text = "(S (A a)) (S (B b))\r\n( (S\n  (C c)\n) )\n\n(TOP(S(D d)))";
    assert_eq!(lines(text), ["(S (A a))", "(S (B b))", "( (S (C c)))", "(TOP (S (D d)))"]);
}

#[test]
fn a_tree_without_tokens_is_read_in_all_its_spellings() {
    for text in ["(())", "( )", "()", "( ( ) )"] {
        assert_eq!(lines(text), ["(())"], "{text}");
    }
    assert_eq!(lines("(TOP )"), ["(TOP )"]);
    assert_eq!(lines("(S (NP ) (VP (V x)))"), ["(S (NP ) (VP (V x)))"]);
}

#[test]
fn a_lone_token_gets_an_unlabelled_root() {
    assert_eq!(lines("(NN dog)"), ["( (NN dog))"]);
}

#[test]
fn wide_spaces_belong_to_words() {
    let trees = read("(NP (CD 20\u{2009}000) (NN a\u{a0}b))").unwrap();
    assert_eq!(trees[0].tokens()[0].word, "20\u{2009}000");
    assert_eq!(trees[0].tokens()[1].word, "a\u{a0}b");
}

#[test]
fn escaped_brackets_are_read_as_their_names() {
    assert_eq!(
        lines(r"(NP (-LRB- \() (NN f\(x\)) (NN 1\/2))"),
        [r"(NP (-LRB- -LRB-) (NN f-LRB-x-RRB-) (NN 1\/2))"]
    );
}

#[test]
fn markup_between_trees_is_skipped() {
    let text = "\u{feff}<DOC>\n<DATE>1994 (May)</DATE>\n<S ID=1>\n( (IP (NN x)) )\n</S>\n\
                <S ID=2> (IP (NN y)) </S>\n</DOC>\n";
    assert_eq!(lines(text), ["( (IP (NN x)))", "(IP (NN y))"]);
}

#[test]
fn every_fault_has_its_place_and_its_own_words() {
    let cases = [
        ("(S (NP the (NN dog)))", "t.mrg:1:12: `NP` has both the word `the` and children"),
        ("(S\n (NN New York))", "t.mrg:2:10: two words under the tag `NN`, `New` and `York`"),
        ("(S (NN a) b)", "t.mrg:1:11: the word `b` among the children of `S` has no tag"),
        ("(S ( (NN a)))", "t.mrg:1:6: a bracket without a label"),
        ("(S (NN a) ())", "t.mrg:1:12: a bracket without a label"),
        ("(S (NN a)\n", "t.mrg:2:1: unbalanced: 1 bracket is still open where the text ends"),
        ("(S (NN a)))", "t.mrg:1:11: unmatched closing bracket"),
        ("\nS (NN a)", "t.mrg:2:1: `S` is outside of any tree"),
        ("(TOP (S (NN a)\n(TOP (S (NN b)))", "t.mrg:2:1: unbalanced: 2 brackets are still open"),
        (
            "((S (NN \u{e9}\u{e9}) x",
            "t.mrg:1:13: the word `x` among the children of `S` has no tag",
        ),
    ];
    for (text, expected) in cases {
        let message = message(text);
        assert!(message.starts_with(expected), "{message}");
    }
    let message = message("\n(S\n(A a)");
    assert!(message.ends_with("(the tree began on line 2)"), "{message}");
}

#[test]
fn bytes_that_are_not_text_are_placed_and_encodings_suggested() {
    let error = reader(b"(S (NN \xc3\xa9\xff))").read().unwrap_err().to_string();
    assert!(error.starts_with("t.mrg:1:9: not UTF-8 text: choose another encoding"), "{error}");
    let mut gbk = PennReader::new(&b"(NP (NN \xc4\xe3))"[..], "t", Encoding::Gb18030);
    assert_eq!(gbk.read().unwrap().unwrap().tokens()[0].word, "\u{4f60}");
    let cut_off = reader(b"(S (NN \xc3").read().unwrap_err().to_string();
    assert!(cut_off.starts_with("t.mrg:1:8: not UTF-8"), "{cut_off}");
}

#[test]
fn columns_stay_exact_over_chunk_borders() {
    let filler = "(S (NN w\u{e9}rd)) ".repeat(20_000);
    let message = message(&format!("\n{filler}(S (NN a) b)"));
    let column = 14 * 20_000 + 11;
    assert!(message.starts_with(&format!("t.mrg:2:{column}: ")), "{message}");
}

#[test]
fn a_word_longer_than_a_chunk_is_one_word() {
    let word = "x".repeat(300_000);
    assert_eq!(read(&format!("(NP (NN {word}))")).unwrap()[0].tokens()[0].word, word);
}

#[test]
fn a_hundred_thousand_levels_are_read_and_written() {
    let depth = 100_000;
    let text = format!("{}(NN a){}", "(X ".repeat(depth), ")".repeat(depth));
    let tree = &read(&text).unwrap()[0];
    assert_eq!(tree.nodes().len(), depth);
    assert_eq!(line(tree), text);
    assert_eq!(read(&pretty(tree)).unwrap()[0], *tree);
}

#[test]
fn pretty_output_looks_as_in_the_treebank() {
    let tree =
        &read("( (S (NP (DT The) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .)) )").unwrap()[0];
    let expected = "( (S\n    (NP (DT The) (NN dog))\n    (VP (VBZ barks)\n      (ADVP (RB now)))\n    \
                    (. .)))\n";
    assert_eq!(pretty(tree), expected);
}

#[test]
fn bad_trees_are_skipped_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mrg");
    let text = "(S (A a))\n(S (B b) b)\n(S (C c))\n(S (D d)\n(S (E e))\n(S (F f)))\n(S (G g))\njunk\n(S (H h))\n";
    std::fs::write(&path, text).unwrap();
    let options = ReadOptions { skip_bad_trees: true, ..Default::default() };
    let (trees, report) = read_all(std::slice::from_ref(&path), &options).unwrap();
    let kept: Vec<_> = trees.iter().map(|t| t.tokens()[0].word.as_str()).collect();
    assert_eq!(kept, ["a", "c", "e", "f", "g", "h"]);
    let shown = report.to_string();
    let name = path.display();
    assert!(
        shown.starts_with(&format!("read 6 trees, skipped 4 ({name}:2: the word `b`")),
        "{shown}"
    );
    assert!(shown.contains(&format!("{name}:4: unbalanced")), "{shown}");
    assert!(shown.ends_with("; and 1 more)"), "{shown}");
    assert!(read_all(&[path], &ReadOptions::default()).is_err());
}

#[test]
fn trees_are_skipped_one_by_one_wherever_lines_begin() {
    let words = |text: &str| {
        let mut reader = reader(text.as_bytes()).lenient();
        let trees = std::iter::from_fn(|| reader.read().transpose());
        let trees = trees.map(|tree| {
            tree.map_or("!".to_owned(), |tree| {
                tree.tokens().iter().map(|token| token.word.as_str()).collect()
            })
        });
        trees.collect::<Vec<String>>().join(" ")
    };
    for (text, answers) in [
        // Whole trees with brackets at the margin.
        ("( (S (N a)\n(V b)))\n( (S (N c)\n(V d)))\n", "ab cd"),
        ("(S (N a))\n(S (N b)\n(V c)\n(S\n(N d)))\n(S (N e))\n", "a bcd e"),
        (" (S (N a)\n (V b))\n (NP (N c))\n", "ab c"),
        // Trees that are not closed.
        ("(S (N a))\n(S (N b)\n(S (N c))\n(NP (N d))\n", "a ! c d"),
        (" (S (N a))\n (S (N b)\n (S (N c))\n (S (N d))\n", "a ! c d"),
        ("\t(S (N a)\n\t  (V b)\n\t(S (N c))\n", "! c"),
        ("(\\\n(\\\n((", "! ! !"),
        // A bracket too many.
        (" (S (N a)) (V b))\n (S (N c))\n", "a ! c"),
    ] {
        assert_eq!(words(text), answers, "{text}");
    }
}

#[test]
fn skipping_inside_indented_trees_finds_the_next_one() {
    let text = "(ROOT\n  (NP (A a)))\n(ROOT\n  (NP x (A a)\n  (B b)))\n(ROOT\n  (NP (C c)))\n";
    let mut reader = reader(text.as_bytes()).lenient();
    assert!(reader.read().unwrap().is_some());
    assert!(reader.read().is_err());
    assert_eq!(line(&reader.read().unwrap().unwrap()), "(ROOT (NP (C c)))");
    assert_eq!(reader.began(), 6);
    assert!(reader.read().unwrap().is_none());
}

#[test]
fn trees_written_at_the_margin_line_by_line_are_read_also_when_skipping() {
    let text = "(S\n(NP\n(A a))\n(VP\n(B b)))\n(S\n(C c))\n";
    let mut reader = reader(text.as_bytes()).lenient();
    assert_eq!(line(&reader.read().unwrap().unwrap()), "(S (NP (A a)) (VP (B b)))");
    assert_eq!(line(&reader.read().unwrap().unwrap()), "(S (C c))");
}

#[test]
fn compressed_files_and_folders_are_read_in_order() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("1.mrg.gz")).unwrap();
    let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    gz.write_all(b"(S (A a))\n").unwrap();
    gz.finish().unwrap();
    std::fs::write(folder.path().join("2.mrg"), "(S (B b))\n").unwrap();
    let mut trees = Trees::open(&[folder.path().to_path_buf()], &ReadOptions::default()).unwrap();
    assert_eq!(line(&trees.next().unwrap().unwrap()), "(S (A a))");
    assert_eq!(line(&trees.next().unwrap().unwrap()), "(S (B b))");
    assert!(trees.place().unwrap().to_string().ends_with("2.mrg:1"));
    assert!(trees.next().is_none());
    assert_eq!(trees.report().to_string(), "read 2 trees, skipped 0");
    assert!(read_all(&[PathBuf::from("no/such/file")], &ReadOptions::default()).is_err());
}

/// Gives one chunk a read, and fails the test when it is asked for more than there is.
struct Pipe(std::vec::IntoIter<&'static str>);

impl Read for Pipe {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let chunk = self.0.next().expect("asked the pipe for more than the item needs");
        buf[..chunk.len()].copy_from_slice(chunk.as_bytes());
        Ok(chunk.len())
    }
}

#[test]
fn a_sentence_is_handed_out_as_soon_as_it_is_complete() {
    let conllu = "1\ta\t_\tA\t_\t_\t_\t_\t_\t_\n";
    for (format, chunks) in [
        (InputFormat::Tagged, vec!["a/", "A\n"]),
        (InputFormat::Underscore, vec!["a_A\n"]),
        (InputFormat::Conllu, vec![conllu, "\n"]),
        (InputFormat::Penn, vec!["(S (A", " a))"]),
    ] {
        let pipe = Box::new(Pipe(chunks.into_iter()));
        let mut items = Sentences::from_reader(pipe, "pipe", format, Encoding::Utf8);
        let Item::Sentence(tokens, _) = items.next().unwrap().unwrap() else {
            panic!("{format}: no sentence")
        };
        assert_eq!(tokens, [Token::new("a", "A")], "{format}");
    }
}

#[test]
fn a_line_of_megabytes_is_one_sentence() {
    let line = "word/TAG ".repeat(500_000).into_bytes();
    let input = Box::new(std::io::Cursor::new(line));
    let mut items = Sentences::from_reader(input, "long", InputFormat::Tagged, Encoding::Utf8);
    let Some(Ok(Item::Sentence(tokens, _))) = items.next() else { panic!("no sentence") };
    assert_eq!(tokens.len(), 500_000);
    assert!(items.next().is_none());
}

#[test]
fn many_unclosed_trees_take_linear_time() {
    let text = "(S (NP (A a)\n".repeat(200_000);
    let mut reader = reader(text.as_bytes()).lenient();
    let mut errors = 0;
    while !matches!(reader.read(), Ok(None)) {
        errors += 1;
    }
    assert!(errors >= 1);
}

/// Any tree: what to do at each step is drawn, brackets left open are closed at the end.
fn any_tree(form: &'static str) -> impl Strategy<Value = Tree> {
    let step = (0..5u8, form, form);
    proptest::collection::vec(step, 0..40).prop_map(|steps| {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        for (what, a, b) in steps {
            match what {
                0 | 1 => builder.open(a),
                2 if builder.depth() > 1 => builder.close(),
                _ => builder.token(a, b),
            }
        }
        while builder.depth() > 0 {
            builder.close();
        }
        builder.finish()
    })
}

/// Words without brackets and white space, with the bytes that matter to the reader.
const PLAIN: &str = "[a-c\\\\/<>\u{e9}\u{a0}\u{4f60}_-]{1,5}";
/// Words with anything.
const WILD: &str = "[a-c\\\\/<>() \t\u{e9}\u{a0}\u{4f60}_-]{0,5}";

#[test]
fn brackets_at_the_margin_after_a_stray_one_are_read_to_the_end() {
    let text = ">\n)(\n))))(((((( <(())( <)))(())(\n(<)";
    let mut reader = PennReader::new(text.as_bytes(), "t", Encoding::Utf8).lenient();
    assert!((0..=text.len()).any(|_| matches!(reader.read(), Ok(None))));
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same_tree(tree in any_tree(PLAIN)) {
        prop_assert_eq!(&read(&line(&tree)).unwrap(), std::slice::from_ref(&tree));
        prop_assert_eq!(&read(&pretty(&tree)).unwrap(), std::slice::from_ref(&tree));
        let drip = line(&tree);
        let mut drip = PennReader::new(Drip(drip.as_bytes()), "t", Encoding::Utf8);
        prop_assert_eq!(drip.read().unwrap().unwrap(), tree);
    }

    #[test]
    fn any_words_are_written_readably_and_stay_the_same_after_that(tree in any_tree(WILD)) {
        let first = line(&tree);
        let again = read(&first).unwrap();
        prop_assert_eq!(again.len(), 1);
        prop_assert_eq!(again[0].tokens().len(), tree.tokens().len());
        prop_assert_eq!(line(&again[0]), first);
    }

    #[test]
    fn no_bytes_make_the_reader_panic_or_stall(
        bytes in proptest::collection::vec(prop_oneof![
            Just(b'('), Just(b')'), Just(b' '), Just(b'\n'), Just(b'\\'), Just(b'<'), Just(b'>'),
            Just(b'a'), Just(b'T'), Just(0xc3), Just(0xa9), any::<u8>()], 0..200),
        encoding in prop_oneof![Just(Encoding::Utf8), Just(Encoding::Gb18030), Just(Encoding::Latin1)],
    ) {
        let mut whole = PennReader::new(&bytes[..], "t", encoding).lenient();
        let mut drip = PennReader::new(Drip(&bytes), "t", encoding).lenient();
        for _ in 0..=bytes.len() {
            let (a, b) = (whole.read(), drip.read());
            match (&a, &b) {
                (Ok(a), Ok(b)) => prop_assert_eq!(a, b),
                (Err(a), Err(b)) => prop_assert_eq!(a.to_string(), b.to_string()),
                _ => prop_assert!(false, "{:?} but drop by drop {:?}", a, b),
            }
            if matches!(a, Ok(None)) {
                return Ok(());
            }
        }
        prop_assert!(false, "no end");
    }
}
