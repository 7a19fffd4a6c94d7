//! Recognizes inputs that are not in the format they are read in, by their first bytes.

use std::io::{self, Cursor, Read};

use serde::de::IgnoredAny;

use super::conllu::COLUMNS;
use super::penn::{COMMENTS, is_space};
use super::tree_reader::XML;
use crate::error::InputKind;
use crate::memory::MODEL_MAGIC;
use crate::text_file::read_some;

/// Maximum number of bytes that are examined.
const MAX_EXAMINED: usize = 4096;

/// Reads the beginning of a stream; returns it with a reader of the whole stream.
///
/// The beginning is the result of a single read, so that a program at the other end of a pipe need not send more than
/// its first line.
///
/// # Errors
/// When the stream fails.
pub(super) fn peek(
    mut reader: Box<dyn Read + Send>,
) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut start = vec![0; MAX_EXAMINED];
    let read = read_some(&mut reader, &mut start)?;
    start.truncate(read);
    let whole = Cursor::new(start.clone()).chain(reader);
    Ok((start, Box::new(whole)))
}

/// Recognizes the format of an input by its beginning; `None` if it may be sentences.
pub(super) fn kind(start: &[u8]) -> Option<InputKind> {
    if start.starts_with(MODEL_MAGIC) {
        return Some(InputKind::Model);
    }
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}');
    if begins_with_trees(text) {
        return Some(InputKind::Trees);
    }
    if is_export_or_xml(text) {
        return Some(InputKind::Treebank);
    }
    begins_with_columns(text).then_some(InputKind::Conllu)
}

/// Whether a text begins as treebanks in export format and XML do.
fn is_export_or_xml(text: &str) -> bool {
    let after_comments = text
        .trim_start()
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with("%%"))
        .unwrap_or_default();
    begins_with_xml(text.trim_start()) || is_export(after_comments)
}

/// Whether a line begins a treebank in export format: `#FORMAT 4`, `#BOS 1 2 3`, `#BOT ORIGIN`.
fn is_export(line: &str) -> bool {
    let mut columns = line.split_ascii_whitespace();
    let keyword = columns.next().unwrap_or_default();
    let value = columns.next().unwrap_or_default();
    let is_value: fn(&u8) -> bool = match keyword {
        "#FORMAT" | "#BOS" => u8::is_ascii_digit,
        "#BOT" => u8::is_ascii_uppercase,
        _ => return false,
    };
    !value.is_empty() && value.as_bytes().iter().all(is_value)
}

/// Whether a text begins with the declaration of XML, or with the first element of a treebank, and no text after it.
fn begins_with_xml(text: &str) -> bool {
    if let Some(declaration) = text.strip_prefix("<?xml") {
        return declaration.starts_with(is_space)
            && declaration.trim_start_matches(is_space).starts_with("version");
    }
    let Some(rest) = XML.iter().find_map(|root| text.strip_prefix(root)) else { return false };
    let (attributes, after) = rest.split_once('>').unwrap_or((rest, ""));
    let is_element = matches!(attributes.trim(), "" | "/")
        || attributes.starts_with(is_space) && attributes.contains('=');
    let line = after.lines().next().unwrap_or_default().trim_start();
    is_element && (line.is_empty() || line.starts_with('<'))
}

/// Recognizes an input without tags, which `separator` joins to words, by its beginning; `None` if it has tags.
pub(super) fn untagged(start: &[u8], separator: char) -> Option<InputKind> {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}');
    if begins_with_objects(text) {
        return Some(InputKind::Json);
    }
    let words = || text.split_ascii_whitespace();
    // Raw text has `and/or` and addresses, but few of them.
    let is_tagged = |word: &&str| {
        word.rsplit_once(separator).is_some_and(|(word, tag)| !word.is_empty() && !tag.is_empty())
    };
    let is_unsplit = |word: &str| {
        let inner = word.trim_end_matches(['.', ',', ';', ':', '?', '!', ')', '"']);
        inner.len() < word.len() && inner.ends_with(char::is_alphanumeric)
    };
    if words().filter(is_tagged).count() * 10 >= words().count() {
        return None;
    }
    Some(if words().any(is_unsplit) { InputKind::Text } else { InputKind::Tokens })
}

/// Recognizes sentences of JSON and words with tags in what should be raw text, by its beginning; `None` if it may be text.
pub(super) fn annotated(start: &[u8]) -> Option<InputKind> {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}');
    if begins_with_objects(text) {
        return Some(InputKind::Json);
    }
    begins_with_tagged_words(text).then_some(InputKind::Tagged)
}

/// Whether every line is an object of JSON, and some have a sentence. The last line may be cut off.
fn begins_with_objects(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    let mut has_sentence = false;
    while let Some(line) = lines.next() {
        has_sentence |=
            ["\"tree\":\"", "\"tokens\":", "\"text\":"].iter().any(|key| line.contains(key));
        let is_read = match serde_json::from_str::<IgnoredAny>(line) {
            Ok(_) => true,
            Err(error) => error.is_eof() && lines.peek().is_none(),
        };
        if !is_read || !line.trim_start().starts_with('{') {
            return false;
        }
    }
    has_sentence
}

/// The number of words after which a text is accepted as tagged, if it has tagged punctuation, and if it has not.
const TAGGED_WORDS: [usize; 2] = [3, 12];

/// Whether nine tenths of the words have tags, and a third also letters that are no capitals: `and/CC`, unlike `AC/DC`. A
/// few words may be pairs: `read/WRITE`.
fn begins_with_tagged_words(text: &str) -> bool {
    let (mut words, mut tagged, mut common, mut marks) = (0, 0, 0, 0);
    for word in text.split_ascii_whitespace() {
        words += 1;
        if let Some((word, _)) = word.rsplit_once('/').filter(|(word, tag)| is_tagged(word, tag)) {
            tagged += 1;
            common += usize::from(word.contains(|c: char| c.is_alphabetic() && !c.is_uppercase()));
            marks += usize::from(!word.contains(char::is_alphanumeric));
        }
    }
    words >= TAGGED_WORDS[usize::from(marks == 0)]
        && tagged * 10 >= words * 9
        && common * 3 >= words
}

/// Whether this may be a tag and its word: capitals before the first hyphen, such as `PRP$` and `N-soort`, or marks
/// for a mark; no part of a path, an address, a date or a pair such as `and/or`.
fn is_tagged(word: &str, tag: &str) -> bool {
    let of_capitals = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || "$|+".contains(c);
    let is_mark = |text: &str| !text.is_empty() && !text.contains(char::is_alphanumeric);
    let name = tag.trim_start_matches('-');
    let (stem, function) = name.split_once('-').unwrap_or((name, ""));
    let is_named = stem.starts_with(|c: char| c.is_ascii_uppercase())
        && stem.chars().all(of_capitals)
        && function.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '_'));
    let is_path = word.replace("\\/", "").contains('/') && !is_mark(word);
    !word.is_empty() && !is_path && (is_named || is_mark(tag) && is_mark(word))
}

/// The number of leaves after which a text is accepted as a tree.
const LEAVES: usize = 3;

/// Whether a text begins with trees in brackets: a label or a `(` after every `(`, and a single word after the
/// label of a leaf, with no space before its `)`. A constituent must contain a leaf, because brackets alone are
/// words too.
fn begins_with_trees(text: &str) -> bool {
    let (mut depth, mut leaves) = (0, 0);
    let mut rest = without_comments(text).trim_start_matches(is_space);
    while leaves < LEAVES && !rest.is_empty() {
        let Some(inside) = rest.strip_prefix('(') else {
            match rest.strip_prefix(')').filter(|_| depth > 0) {
                Some(after) => (depth, rest) = (depth - 1, after.trim_start_matches(is_space)),
                None => return false,
            }
            continue;
        };
        depth += 1;
        let (label, after) = atom(inside);
        let (word, end) = atom(after.trim_start_matches(is_space));
        rest = match (label, word) {
            (_, "") => after.trim_start_matches(is_space),
            ("", _) => return false,
            _ if end.is_empty() => break,
            _ if depth > 1 && end.starts_with(')') => {
                leaves += 1;
                end
            }
            _ => return false,
        };
    }
    leaves > 0
}

/// The text after lines that begin with `#` and comments of CorpusSearch; what is cut off in one is no text.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start_matches(is_space);
    loop {
        let comment = std::iter::once(["#", "\n"])
            .chain(COMMENTS)
            .find_map(|[begin, end]| Some((rest.strip_prefix(begin)?, end)));
        let Some((inside, end)) = comment else { return rest };
        rest = inside.split_once(end).map_or("", |(_, rest)| rest).trim_start_matches(is_space);
    }
}

/// Splits a text at its first bracket or space.
fn atom(text: &str) -> (&str, &str) {
    let ends = |c: char| is_space(c) || matches!(c, '(' | ')');
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

/// Whether the first line that is not a comment has ten columns, the first of them an ID.
fn begins_with_columns(text: &str) -> bool {
    let is_comment = |line: &&str| line.starts_with('#') || line.trim().is_empty();
    let Some(line) = text.lines().find(|line| !is_comment(line)) else { return false };
    let mut columns = line.split('\t');
    let id = columns.next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    id.split(['-', '.']).all(is_number) && columns.count() + 1 == COLUMNS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_recognized_whatever_their_layout() {
        for text in [
            "(TOP (S (NN a)))\n",
            "\u{feff}( (S\n    (NP (DT the) (NN dog))\n",
            "\n(ROOT\n  (S (VP (V go)\n (NP (N",
            "((S (NP-SBJ (-NONE- *))))",
            "(())\n(TOP (S (NN a)))\n",
            "/*\nPREFACE: (x)\n*/\n/~*\na.\n*~/\n# c\n( (S (NN a)) (ID 1))",
            "/+ x +/\n( (S (NN a)))",
        ] {
            assert_eq!(kind(text.as_bytes()), Some(InputKind::Trees), "{text}");
        }
    }

    #[test]
    fn sentences_that_begin_with_brackets_are_no_trees() {
        for text in [
            "(/-LRB- a/NN )/-RRB-\n",
            "( see ( Smith 1990 ) for details )\n",
            "(see (Smith 1990) for details)\n",
            "(a) (b c) d\n",
            "( ( ) )\n",
            "(\n",
            "(A",
            ") (A (B c))",
            "",
        ] {
            assert_eq!(kind(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn text_and_words_without_tags_are_recognized() {
        let untagged = |text: &str| untagged(text.as_bytes(), '/');
        assert_eq!(untagged("The dog barks.\n"), Some(InputKind::Text));
        assert_eq!(untagged("The dog barks .\n"), Some(InputKind::Tokens));
        let words = "the cats and/or the dogs in the house of the baker bark";
        assert_eq!(untagged(words), Some(InputKind::Tokens));
        assert_eq!(untagged("{\"text\":\"We sing.\"}\n"), Some(InputKind::Json));
        for text in ["", "dogs/NNS\n", "dogs/NNS bark\nno tags here\n", "a/b c.\n"] {
            assert_eq!(untagged(text), None, "{text}");
        }
    }

    #[test]
    fn tagged_words_and_objects_are_recognized() {
        for text in [
            "\u{feff}The/DT dog/NN barks/VBZ ./.\n\n",
            "-LRB-/-LRB- my/PRP$ 1\\/2/CD //SYM dog/NN barks/VBZ -RRB-/-RRB- ''/''",
            "Mag/WW-pv ik/VNW-pers ?/LET",
            "窓/N を/P 閉め/VB ./PU",
        ] {
            assert_eq!(annotated(text.as_bytes()), Some(InputKind::Tagged), "{text}");
        }
        for text in [
            "{\"id\":1,\"tokens\":[]}\n\n {\"text\": \"We sing.\"}\r\n{\"te",
            "{\"tree\":\"(TOP (S (NP (NN do",
        ] {
            assert_eq!(annotated(text.as_bytes()), Some(InputKind::Json), "{text}");
        }
        for text in [
            "",
            "dogs/NNS bark/VBP",
            "and/or he/she 24/7 km/h 3/4/2020\n",
            "N/A AC/DC TCP/IP I/O 5/GB\n",
            "https://example.org/FAQ http://x.org/A lib/src/README\n",
            "Etc/GMT-10, Etc/GMT-9, 03/MAR/2020 10.1000/ABC1\n",
            "[12:01] <ann> w/ me / BBC/ITV and the/NN\n",
            "{\"tokens\":[]}\nA line of text.\n",
            "either/OR input/OUTPUT read/WRITE\n",
            "bit.ly/ABC t.co/XYZ goo.gl/A1\n",
            "{\"file\":\"a.mrg\",\"tree\":1,\"label\":\"NP\"}\n",
            "{\"name\":\"x\"}\n",
            "{\n \"text\": \"We sing.\"\n}\n",
            "{see below}\n",
        ] {
            assert_eq!(annotated(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn export_and_xml_are_recognized() {
        for text in [
            "#FORMAT 4\n#BOS 1\n",
            "%% words\n%% tags\n#BOS 1\n",
            "%% words\n\n#FORMAT 3\n",
            "\u{feff}<?xml version='1.0'?>\n<corpus>",
            "<?xml\n  version='1.0'?>",
            " <alpino_ds>",
            "<alpino_ds version=\"1.3\"><node cat=\"top\"/><sentence>De hond</sentence>",
            "<corpus\n  xmlns:x='y'\n  id='c'>\n",
            "<annotation><PubmedArticleSet>",
            "#BOS\t12\t2\t899973978\t0",
            "#BOT ORIGIN\n0 -- --\n",
        ] {
            assert_eq!(kind(text.as_bytes()), Some(InputKind::Treebank), "{text}");
        }
        for text in [
            "%% a comment\n\\section{One}\n",
            "<b>No</b>",
            "# BOS",
            "#BOStonStrong we love you.\n",
            "#BOS is a tag.\n",
            "#FORMATTING is hard.\n",
            "#BOT or not?\n",
            "<corpus> is a tag\n",
            "<corpuses>\n",
            "<annotation> a\n",
            "<annotation of a word\n",
            "<treebank> x\n",
            "<?xml?> tags are old.\n",
        ] {
            assert_eq!(kind(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn columns_and_models_are_recognized() {
        let conllu = b"# text = a b\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n";
        assert_eq!(kind(conllu), Some(InputKind::Conllu));
        assert_eq!(kind(b"SRPARSE\0\x02\0\0\0"), Some(InputKind::Model));
        assert_eq!(kind(b"1\ta\tb\n"), None);
        assert_eq!(kind(b"# 1/CD\t2/CD\n"), None);
    }
}
