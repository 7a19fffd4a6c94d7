//! Models whose checksums are right and whose contents are not: refused, or they parse. A checksum
//! guards against accidents; this guards against files that someone made.

use rand::RngExt;
use srparse::memory::Array;
use srparse::{Model, Parser, Preset, Tagger, Token, Trainer, Treebank};

use crate::common::{assert_valid, rng, toy};

const TAGGERS: [&str; 2] = [
    "kind = 'perceptron'\nepochs = 2\nmin_word_count = 1",
    "kind = 'two-pass'\njackknife = 2\nlearner = { kind = 'perceptron', epochs = 2 }",
];

/// A model of a few toy sentences, with a perceptron tagger inside.
fn small() -> Model {
    with_tagger(TAGGERS[0])
}

fn with_tagger(tagger: &str) -> Model {
    let settings = ["epochs=2".to_owned(), "prune.min_row=0.0".to_owned()];
    of_preset(Preset::load("binary-dynamic", &settings).unwrap(), tagger)
}

fn of_preset(mut preset: Preset, tagger: &str) -> Model {
    let train = Treebank { files: vec!["toy".to_owned()], trees: toy::treebank(10, 1) };
    preset.tagger = Preset::parse(&format!("[tagger]\n{tagger}"), "test", &[]).unwrap().tagger;
    Trainer::with_preset(preset).unwrap().train(&train, &Treebank::default()).unwrap()
}

/// A model with a network and vectors of words.
fn with_network() -> Model {
    let folder = tempfile::tempdir().unwrap();
    let vectors = folder.path().join("vectors");
    std::fs::write(&vectors, "the 0.5 -1\nother 2 1e-3\n").unwrap();
    let network = "{ kind = \"stack-lstm\", input_dim = 8, lstm_dim = 8 }";
    let vectors = vectors.display().to_string();
    let settings = [format!(
        "learner={{ kind = \"neural\", epochs = 1, pretrained = {vectors:?}, network = {network} }}"
    )];
    of_preset(Preset::load("binary-dynamic", &settings).unwrap(), TAGGERS[0])
}

fn models() -> impl Iterator<Item = Model> {
    TAGGERS.map(with_tagger).into_iter().chain([with_network()])
}

/// Whether the model loads; if so it must tag and parse a known and an unknown sentence.
fn loads(model: &Model) -> bool {
    let strange = ["?", "xyz", "\u{e9}"].map(|word| Token::new(word, word));
    let tagger = Tagger::new(model);
    if let Ok(tagger) = &tagger {
        let tokens = [toy::treebank(1, 1)[0].tokens(), &strange].concat();
        let words = || tokens.iter().map(|token| token.word.as_str());
        let tagged = tagger.tag(words());
        assert!(tagged.iter().map(|token| token.word.as_str()).eq(words()));
    }
    let Ok(parser) = Parser::new(model, &[]) else { return false };
    let mut worker = parser.worker();
    let known = toy::treebank(2, 1);
    for tokens in known.iter().map(|tree| tree.tokens()).chain([&strange[..]]) {
        assert_valid(&worker.parse(tokens).unwrap().tree, tokens);
    }
    tagger.is_ok()
}

#[test]
fn any_bytes_in_a_section_are_refused_or_parse() {
    let mut rng = rng(1);
    for model in models() {
        assert!(loads(&model));
        for which in 0..model.sections.0.len() {
            for _ in 0..150 {
                let mut broken = model.clone();
                let mut bytes = broken.sections.0[which].bytes.to_vec();
                for _ in 0..rng.random_range(1..20) {
                    let at = rng.random_range(0..bytes.len());
                    bytes[at] = rng.random();
                }
                broken.sections.0[which].bytes = Array::Owned(bytes);
                loads(&broken);
            }
        }
    }
}

#[test]
fn sections_of_another_length_are_refused_or_parse() {
    for model in models() {
        for which in 0..model.sections.0.len() {
            for keep in [0, 1, 2, 3, 4, 5, 8] {
                let mut broken = model.clone();
                let bytes = broken.sections.0[which].bytes.to_vec();
                for cut in
                    [&bytes[..keep.min(bytes.len())], &bytes[..bytes.len().saturating_sub(keep)]]
                {
                    broken.sections.0[which].bytes = Array::Owned(cut.to_vec());
                    loads(&broken);
                }
            }
        }
    }
}

#[test]
fn a_missing_section_is_refused() {
    for model in models() {
        for which in 0..model.sections.0.len() {
            let mut broken = model.clone();
            broken.sections.0.remove(which);
            assert!(!loads(&broken), "{}", model.sections.0[which].name);
        }
    }
}

#[test]
fn any_value_in_the_stored_system_is_refused_or_parses() {
    let model = small();
    let mut rng = rng(2);
    let mut refused = 0;
    for _ in 0..300 {
        let mut broken = model.clone();
        let serde_json::Value::Object(system) = &mut broken.header.system else { panic!() };
        let keys: Vec<String> = system.keys().cloned().collect();
        let key = &keys[rng.random_range(0..keys.len())];
        let strange = [
            serde_json::json!(null),
            serde_json::json!(0),
            serde_json::json!(4_294_967_295u32),
            serde_json::json!([]),
            serde_json::json!(["TOP"]),
            serde_json::json!(["S", "S", "TOP"]),
            serde_json::json!([0, 1]),
            serde_json::json!([0, 1, 3, 5]),
            serde_json::json!([5, 3, 1, 0]),
            serde_json::json!([0, 0, 1, 1]),
            serde_json::json!([4_294_967_295u32]),
        ];
        let value = system.get_mut(key).unwrap();
        if let (serde_json::Value::Array(list), true) = (&mut *value, rng.random_bool(0.5)) {
            let at = rng.random_range(0..list.len());
            if rng.random_bool(0.5) {
                drop(list.remove(at));
            } else {
                list[at] = serde_json::json!(rng.random_range(0..40));
            }
        } else {
            *value = strange[rng.random_range(0..strange.len())].clone();
        }
        refused += u32::from(!loads(&broken));
    }
    assert!(refused > 100, "{refused} of 300");
}
