//! Tests with the tokenizers of the tiny encoders in `tests/encoders`, whole and damaged.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::*;
use crate::error::Result;

const FAMILIES: [&str; 5] = ["bert", "distilbert", "electra", "roberta", "xlm-roberta"];

fn tiny(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoders").join(name)
}

fn read(name: &str) -> PieceTokenizer {
    PieceTokenizer::read(&tiny(name)).unwrap()
}

fn pieces(tokenizer: &PieceTokenizer, word: &str) -> Vec<u32> {
    let mut pieces = Vec::new();
    tokenizer.pieces(word, &mut pieces);
    pieces
}

#[derive(Deserialize)]
struct Golden {
    sentences: Vec<GoldenSentence>,
}

#[derive(Deserialize)]
struct GoldenSentence {
    words: Vec<String>,
    pieces: Vec<Vec<u32>>,
}

/// Words with the pieces that the reference implementation finds. Of a word of spaces alone nothing is left there, here
/// the piece `▁`: such words are left out.
fn golden(name: &str) -> Vec<(String, Vec<u32>)> {
    let text = std::fs::read_to_string(tiny(name).join("golden.json")).unwrap();
    let golden: Golden = serde_json::from_str(&text).unwrap();
    let sentences = golden.sentences.into_iter();
    let words = sentences.flat_map(|sentence| sentence.words.into_iter().zip(sentence.pieces));
    words.filter(|(word, _)| word != "\u{200b}").collect()
}

#[test]
fn of_a_very_long_word_the_beginning_is_split() {
    for name in FAMILIES {
        let tokenizer = read(name);
        let long = pieces(&tokenizer, &"漢".repeat(1_000_000));
        assert_eq!(long, pieces(&tokenizer, &"漢".repeat(MAX_WORD / 3)), "{name}");
    }
}

#[test]
fn words_have_the_pieces_of_the_reference() {
    for name in FAMILIES {
        let tokenizer = read(name);
        let again = PieceTokenizer::from_bytes(&tokenizer.to_bytes()).unwrap();
        for (word, expected) in golden(name) {
            assert_eq!(pieces(&tokenizer, &word), expected, "{name}: {word}");
            assert_eq!(pieces(&again, &word), expected, "{name}, stored: {word}");
        }
        assert_eq!(again.to_bytes(), tokenizer.to_bytes(), "{name}");
        let ends = if name.ends_with("roberta") { [0, 2] } else { [2, 3] };
        assert_eq!([tokenizer.first_piece(), tokenizer.last_piece()], ends);
    }
}

#[test]
fn every_word_has_a_piece_and_none_is_special() {
    let long = "x".repeat(100_000);
    for name in FAMILIES {
        let tokenizer = read(name);
        let special = tokenizer.setup.special;
        let words = [
            "",
            " ",
            "\0",
            "\u{200b}",
            "[SEP]",
            "</s>",
            "<s>",
            "[CLS]",
            "<mask>",
            "\u{fffd}",
            "👩‍🔬",
            &long,
        ];
        for word in words {
            let found = pieces(&tokenizer, word);
            let is_ordinary = |&id: &u32| {
                id < tokenizer.len() as u32 && ![special.first, special.last].contains(&id)
            };
            assert!(
                !found.is_empty() && found.iter().all(is_ordinary),
                "{name}: {word:.20} {found:?}"
            );
        }
    }
}

#[test]
fn threads_share_a_tokenizer() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    is_shared(&read("bert"));
}

#[test]
fn words_whose_pieces_were_left_out_are_spelled_with_smaller_ones() {
    for name in FAMILIES {
        let tokenizer = read(name);
        let text_of = |id: u32| {
            let vocabulary = tokenizer.vocabulary();
            let piece = vocabulary.pieces.iter().find(|piece| piece.id == id);
            piece.map(|piece| String::from_utf8_lossy(&piece.bytes).into_owned())
        };
        let (all, old) = tokenizer.restrict(|_, _| true);
        assert!(all.len() <= tokenizer.len());
        for (word, expected) in golden(name) {
            let found: Vec<u32> = pieces(&all, &word).iter().map(|&id| old[id as usize]).collect();
            assert_eq!(found, expected, "{name}: {word}");
        }
        let kept = pieces(&tokenizer, "walked");
        let (few, old) = tokenizer.restrict(|id, _| kept.contains(&id));
        assert!(few.len() < all.len() && few.len() == old.len() && old.is_sorted(), "{name}");
        let translated = |word: &str| -> Vec<u32> {
            pieces(&few, word).iter().map(|&id| old[id as usize]).collect()
        };
        assert_eq!(translated("walked"), kept, "{name}");
        let spelled = translated("travellers");
        assert!(spelled.len() > pieces(&tokenizer, "travellers").len(), "{name}: {spelled:?}");
        let text: String = spelled.iter().filter_map(|&id| text_of(id)).collect();
        assert_eq!(text.replace("##", "").trim_start_matches([' ', '▁']), "travellers");
        let again = PieceTokenizer::from_bytes(&few.to_bytes()).unwrap();
        assert_eq!(pieces(&again, "travellers"), pieces(&few, "travellers"));
        assert_eq!(old[few.first_piece() as usize], tokenizer.first_piece());
        assert_eq!(old[few.last_piece() as usize], tokenizer.last_piece());
    }
}

/// The bytes of a tokenizer with another header.
fn with_header(bytes: &[u8], change: impl Fn(String) -> String) -> Vec<u8> {
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let header = String::from_utf8(bytes[4..4 + length].to_vec()).unwrap();
    let changed = change(header.clone());
    assert_ne!(changed, header);
    [&(changed.len() as u32).to_le_bytes(), changed.as_bytes(), &bytes[4 + length..]].concat()
}

#[test]
fn damaged_and_hostile_bytes_are_refused_or_read_without_harm() {
    for name in FAMILIES {
        let bytes = read(name).to_bytes();
        for end in (0..bytes.len()).step_by(97) {
            assert!(PieceTokenizer::from_bytes(&bytes[..end]).is_err(), "{name}: {end}");
        }
        assert!(PieceTokenizer::from_bytes(&[&bytes[..], b"x"].concat()).is_err());
        assert!(PieceTokenizer::from_bytes(&[0xff; 64]).is_err());
        let header = 4 + u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 30) {
            for byte in [0, 1, 0x7f, 0xff, bytes[at] ^ 1] {
                let mut changed = bytes.clone();
                changed[at] = byte;
                if let Ok(tokenizer) = PieceTokenizer::from_bytes(&changed) {
                    for word in ["walked", "Größe", "凍っていた", "½ﬁ"] {
                        assert!(!pieces(&tokenizer, word).is_empty());
                    }
                }
            }
        }
        assert!(header < bytes.len());
        let pieces = format!("\"pieces\":{}", read(name).len());
        for absurd in
            ["\"pieces\":99999999999", "\"pieces\":0", "\"pieces\":-1", "\"pieces\":2097153"]
        {
            let changed = with_header(&bytes, |header| header.replace(&pieces, absurd));
            assert!(PieceTokenizer::from_bytes(&changed).is_err(), "{name}: {absurd}");
        }
        let special = with_header(&bytes, |header| header.replace("\"first\":", "\"first\":9"));
        assert!(PieceTokenizer::from_bytes(&special).is_err(), "{name}");
    }
}

#[test]
fn repeated_pieces_and_unordered_joins_are_refused() {
    let tokenizer = read("roberta");
    let bytes = tokenizer.to_bytes();
    let mut joins = bytes.clone();
    let end = joins.len();
    joins.copy_within(end - 8..end - 4, end - 4);
    assert!(PieceTokenizer::from_bytes(&joins).is_err());
    let vocabulary = tokenizer.vocabulary();
    let mut repeated = vocabulary.pieces.clone();
    repeated[1].bytes = repeated[0].bytes.clone();
    let setup = tokenizer.setup.clone();
    let of = |pieces| {
        PieceTokenizer::of_parts(setup.clone(), 400, Vocabulary { pieces, scores: Vec::new() })
    };
    assert!(of(vocabulary.pieces.clone()).is_some() && of(repeated).is_none());
    let mut same_id = vocabulary.pieces;
    same_id[1].id = same_id[0].id;
    assert!(of(same_id).is_none() && of(Vec::new()).is_none());
}

#[test]
fn tables_that_lead_outside_are_refused() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let table = |units: &[u32], texts: &[u8]| {
        let mut bytes = ((4 * units.len()) as u32).to_le_bytes().to_vec();
        bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        bytes.extend(texts);
        charsmap::checked(&STANDARD.encode(bytes))
    };
    assert_eq!(charsmap::checked(""), Some(String::new()));
    let sound = table(&[0; 4], b"a\0").unwrap();
    assert_eq!(charsmap::checked(&sound), Some(sound.clone()));
    assert!(table(&[], b"").is_none());
    assert!(table(&[1 << 20], b"").is_none(), "a link outside");
    assert!(table(&[u32::MAX], b"").is_none(), "the root is no value");
    assert!(table(&[(1 << 10) | (1 << 8), (1 << 31) | 3], b"a\0").is_none(), "a value outside");
    assert!(table(&[(1 << 10) | (1 << 8), (1 << 31) | 2], b"a\0").is_some());
    assert!(table(&[0], b"\xff").is_none());
    for bytes in [&b"\xff\xff\xff\xff"[..], b"abc", b"\x03\0\0\0abc", b"\x08\0\0\0abcd"] {
        assert!(charsmap::checked(&STANDARD.encode(bytes)).is_none());
    }
    assert!(charsmap::checked("no base64").is_none());
}

#[track_caller]
fn expect(result: Result<PieceTokenizer>, parts: &[&str]) {
    let message = result.map(drop).unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

#[test]
fn other_tokenizers_are_refused_with_the_kinds_that_are_read() {
    for (name, from, to, parts) in [
        (
            "bert",
            "\"BertPreTokenizer\"",
            "\"Whitespace\"",
            &["`pre_tokenizer`", "WordPiece (as BERT's)"][..],
        ),
        ("bert", "\"##\"", "\"@@\"", &["another combination", "Unigram (as XLM-R's)"]),
        (
            "bert",
            "\"BertNormalizer\"",
            "\"Lowercase\"",
            &["`normalizer`", "step that is not known"],
        ),
        ("bert", "\"WordPiece\",\"unk", "\"WordLevel\",\"no\":1,\"unk", &["another combination"]),
        ("bert", "\"[CLS]\"", "\"[cls]\"", &["no piece `[CLS]`"]),
        ("bert", "\"model\"", "\"motel\"", &["tokenizer.json:1:", "`model`"]),
        ("bert", "{", "", &["tokenizer.json:1:", "download"]),
        ("roberta", "\"use_regex\":true", "\"use_regex\":false", &["another combination"]),
        (
            "roberta",
            "\"end_of_word_suffix\":null",
            "\"end_of_word_suffix\":\"</w>\"",
            &["end_of_word_suffix"],
        ),
        ("xlm-roberta", "\"replacement\":\"▁\"", "\"replacement\":\"_\"", &["`pre_tokenizer`"]),
        (
            "xlm-roberta",
            "\"precompiled_charsmap\":\"AA",
            "\"precompiled_charsmap\":\"zz",
            &["charsmap"],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = std::fs::read_to_string(tiny(name).join("tokenizer.json")).unwrap();
        let changed = text.replace(from, to);
        std::fs::write(folder.path().join("tokenizer.json"), &changed).unwrap();
        assert_ne!(changed, text, "{from}");
        expect(PieceTokenizer::read(folder.path()), parts);
    }
}

#[test]
fn absurd_ids_and_missing_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    expect(
        PieceTokenizer::read(folder.path()),
        &["no `tokenizer.json` and no `vocab.txt`", "save_pretrained"],
    );
    let text = std::fs::read_to_string(tiny("bert").join("tokenizer.json")).unwrap();
    for (from, to, part) in [
        ("\"[CLS]\":2,", "\"[CLS]\":2,\"zz\":4294967295,", "not sound"),
        ("\"[CLS]\":2,", "\"[CLS]\":2,\"zz\":4294967296,", "cannot be read"),
        ("\"[CLS]\":2,", "\"[CLS]\":2,\"zz\":9,", "not sound"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        std::fs::write(folder.path().join("tokenizer.json"), changed).unwrap();
        expect(PieceTokenizer::read(folder.path()), &["tokenizer.json: ", part]);
    }
}

#[test]
fn lists_of_pieces_may_repeat_one_and_say_whether_case_counts() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("vocab.txt");
    std::fs::write(&list, "[UNK]\n[CLS]\r\n[SEP]\nBr\n##ün\nbr\n##un\nbr\n").unwrap();
    let tokenizer = PieceTokenizer::read(folder.path()).unwrap();
    assert_eq!((tokenizer.first_piece(), tokenizer.last_piece()), (1, 2));
    assert_eq!(pieces(&tokenizer, "Brün"), [5, 6]);
    let config = folder.path().join("tokenizer_config.json");
    std::fs::write(&config, r#"{"do_lower_case": false, "model_max_length": 512}"#).unwrap();
    let tokenizer = PieceTokenizer::read(folder.path()).unwrap();
    assert_eq!(pieces(&tokenizer, "Brün"), [3, 4]);
    assert_eq!(pieces(&tokenizer, "zebra"), [0]);
    let (fewest, old) = tokenizer.restrict(|_, _| false);
    assert_eq!((fewest.len(), &old[..]), (4, &[0, 1, 2, 3][..]));
    std::fs::write(&list, "[UNK]\n[CLS]\n").unwrap();
    expect(PieceTokenizer::read(folder.path()), &["vocab.txt: ", "no piece `[SEP]`"]);
    std::fs::write(&list, b"\xff\n").unwrap();
    expect(PieceTokenizer::read(folder.path()), &["save it as UTF-8"]);
}
