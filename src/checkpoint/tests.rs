//! Tests with the tiny encoders in `tests/encoders`, whole and damaged.

use super::*;
use crate::neural::transformer::Activation;

const FAMILIES: [(&str, Family); 5] = [
    ("bert", Family::Bert),
    ("distilbert", Family::DistilBert),
    ("electra", Family::Electra),
    ("roberta", Family::Roberta),
    ("xlm-roberta", Family::XlmRoberta),
];

fn tiny(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoders").join(name)
}

/// A folder with a copy of a tiny encoder.
fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(tiny(name)).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

fn load(folder: &Path) -> Result<Weights> {
    Checkpoint::open(folder)?.weights()
}

#[track_caller]
fn expect<T>(result: Result<T>, parts: &[&str]) {
    let message = result.map(drop).unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

#[test]
fn sizes_and_weights_of_every_family_are_read() {
    for (name, family) in FAMILIES {
        let checkpoint = Checkpoint::open(&tiny(name)).unwrap();
        let config = checkpoint.config().clone();
        let is_roberta = matches!(family, Family::Roberta | Family::XlmRoberta);
        let expected = Config {
            family,
            vocabulary: config.vocabulary,
            width: 32,
            embedding_width: if family == Family::Electra { 16 } else { 32 },
            layers: 2,
            heads: 4,
            feed_forward: 64,
            positions: 72,
            position_offset: if is_roberta { 2 } else { 0 },
            types: if is_roberta { 1 } else { 2 * usize::from(family != Family::DistilBert) },
            activation: match family {
                Family::Electra => Activation::GeluTanh,
                _ => Activation::Gelu,
            },
            epsilon: if is_roberta { 1e-5 } else { 1e-12 },
        };
        assert_eq!(config, expected);
        let stored = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<Config>(&stored).unwrap(), config);
        let weights = checkpoint.weights().unwrap();
        let (width, inner) = (config.embedding_width, config.feed_forward);
        assert_eq!(weights.pieces.len(), config.vocabulary * width);
        assert_eq!(weights.positions.len(), config.positions * width);
        assert_eq!(weights.kind.len(), width);
        assert_eq!(weights.kind.iter().all(|&value| value == 0.0), config.types == 0);
        assert_eq!(weights.embedding_norm.each_ref().map(Vec::len), [width; 2]);
        let projection = weights.projection.as_ref().map(|part| part.each_ref().map(Vec::len));
        assert_eq!(projection, (width != 32).then_some([width * 32, 32]));
        assert_eq!(weights.layers.len(), 2);
        for layer in &weights.layers {
            let sizes = [
                &layer.input,
                &layer.output,
                &layer.up,
                &layer.down,
                &layer.attention_norm,
                &layer.norm,
            ]
            .map(|part| part.each_ref().map(Vec::len));
            let expected = [
                [32 * 96, 96],
                [1024, 32],
                [32 * inner, inner],
                [inner * 32, 32],
                [32; 2],
                [32; 2],
            ];
            assert_eq!(sizes, expected);
        }
    }
}

#[test]
fn a_tokenizer_needs_a_row_for_each_piece() {
    for (name, _) in FAMILIES {
        let checkpoint = Checkpoint::open(&tiny(name)).unwrap();
        assert_eq!(checkpoint.tokenizer().unwrap().len(), checkpoint.config().vocabulary);
    }
    let folder = copy("bert");
    edit(&folder.path().join("config.json"), "\"vocab_size\": ", "\"vocab_size\": 7, \"_\": ");
    let checkpoint = Checkpoint::open(folder.path()).unwrap();
    expect(checkpoint.tokenizer(), &["`config.json` says 7", "same encoder"]);
}

#[test]
fn matrices_have_a_row_for_each_input() {
    let folder = tiny("bert");
    let tensors = tensors::Tensors::open(&folder).unwrap();
    let layer = &load(&folder).unwrap().layers[1];
    for (part, name) in ["query", "key", "value"].into_iter().enumerate() {
        let name = format!("encoder.layer.1.attention.self.{name}.weight");
        let rows = tensors.read(&name, &[32, 32]).unwrap();
        for (input, output) in [(0, 0), (3, 17), (31, 30)] {
            let [weights, _] = &layer.input;
            assert_eq!(weights[input * 96 + part * 32 + output], rows[output * 32 + input]);
        }
    }
    let rows = tensors.read("encoder.layer.1.intermediate.dense.weight", &[64, 32]).unwrap();
    assert_eq!(layer.up[0][3 * 64 + 50], rows[50 * 32 + 3]);
}

#[test]
fn other_encoders_are_refused_with_the_families_that_are_read() {
    for (from, to, parts) in [
        (
            r#""model_type": "bert""#,
            r#""model_type": "deberta-v2""#,
            &["deberta-v2", "XLM-R", "config.json"][..],
        ),
        (r#""model_type": "bert""#, r#""model_type": 7"#, &["`model_type` is 7"]),
        (r#""model_type": "bert","#, "", &["no `model_type`", "ELECTRA"]),
        (r#""is_decoder": false"#, r#""is_decoder": true"#, &["`is_decoder` is true"]),
        (
            r#""is_decoder": false"#,
            r#""position_embedding_type": "relative_key""#,
            &["relative_key", "absolute", "families"],
        ),
        (r#""hidden_act": "gelu""#, r#""hidden_act": "silu""#, &["`hidden_act` is \"silu\""]),
        (
            r#""hidden_size": 32"#,
            r#""hidden_size": 1e9"#,
            &["`hidden_size`", "1 to 8192", "1000000000.0"],
        ),
        (r#""hidden_size": 32"#, r#""hidden_size": -1"#, &["`hidden_size`", "found -1"]),
        (r#""hidden_size": 32,"#, "", &["`hidden_size`", "missing"]),
        (
            r#""num_attention_heads": 4"#,
            r#""num_attention_heads": 5"#,
            &["do not divide the width 32"],
        ),
        (r#""num_hidden_layers": 2"#, r#""num_hidden_layers": 0"#, &["1 to 128"]),
        (
            r#""max_position_embeddings": 72"#,
            r#""max_position_embeddings": 2"#,
            &["no place for a word"],
        ),
        (r#""layer_norm_eps": 1e-12"#, r#""layer_norm_eps": 0"#, &["layer_norm_eps", "found 0"]),
        ("{", "{{", &["config.json:1:2: ", "download"]),
        ("{", "[{", &["config.json:1"]),
    ] {
        let folder = copy("bert");
        edit(&folder.path().join("config.json"), from, to);
        expect(Checkpoint::open(folder.path()), parts);
    }
}

#[test]
fn folders_that_are_none_and_missing_files_are_named() {
    let folder = copy("bert");
    expect(Checkpoint::open(&folder.path().join("none")), &["none: ", "check the name"]);
    expect(
        Checkpoint::open(&folder.path().join("config.json")),
        &["not a folder", "tokenizer.json"],
    );
    let weights = folder.path().join("model.safetensors");
    std::fs::rename(&weights, folder.path().join("pytorch_model.bin")).unwrap();
    expect(load(folder.path()), &["convert it", "safetensors.torch", "weights_only=True"]);
    std::fs::remove_file(folder.path().join("pytorch_model.bin")).unwrap();
    expect(load(folder.path()), &["no `model.safetensors`", "index.json"]);
    std::fs::create_dir(&weights).unwrap();
    expect(load(folder.path()), &["model.safetensors"]);
    std::fs::remove_file(folder.path().join("config.json")).unwrap();
    expect(Checkpoint::open(folder.path()), &["config.json: ", "check the name"]);
}

#[test]
fn shards_are_looked_for_in_the_folder_only() {
    for (to, parts) in [
        (
            "../bert/model.safetensors",
            &["`../bert/model.safetensors` is not the name of a file"][..],
        ),
        ("/etc/passwd", &["is not the name of a file"]),
        ("..", &["is not the name of a file"]),
        (
            "model-00003-of-00002.safetensors",
            &["model-00003-of-00002.safetensors: ", "check the name"],
        ),
        ("config.json", &["truncated or not in the format safetensors"]),
        (
            "model-00001-of-00002.safetensors",
            &["no tensor `embeddings.token_type_embeddings.weight`", "index.json"],
        ),
    ] {
        let folder = copy("xlm-roberta");
        let index = folder.path().join("model.safetensors.index.json");
        edit(&index, "model-00002-of-00002.safetensors", to);
        expect(load(folder.path()), parts);
    }
}

#[test]
fn weights_that_contradict_the_sizes_are_refused() {
    for (from, to, parts) in [
        (
            "\"vocab_size\": ",
            "\"vocab_size\": 1",
            &["embeddings.word_embeddings.weight", "asks for [1"][..],
        ),
        ("\"hidden_size\": 32", "\"hidden_size\": 64", &["has the shape", "64]", "same encoder"]),
        ("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3", &["no tensor `encoder.layer.2."]),
        ("\"intermediate_size\": 64", "\"intermediate_size\": 32768", &["[64, 32]", "[32768, 32]"]),
        (
            "\"model_type\": \"bert\"",
            "\"model_type\": \"electra\", \"embedding_size\": 16",
            &["[260, 16]"],
        ),
    ] {
        let folder = copy("bert");
        let config = folder.path().join("config.json");
        edit(&config, from, to);
        let vocabulary = Checkpoint::open(&tiny("bert")).unwrap().config().vocabulary;
        let parts: Vec<String> =
            parts.iter().map(|part| part.replace("260", &vocabulary.to_string())).collect();
        expect(load(folder.path()), &parts.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// A safetensors file with this header and data.
fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

#[test]
fn damaged_and_hostile_files_are_refused() {
    let whole = std::fs::read(tiny("bert").join("model.safetensors")).unwrap();
    let absurd = [&u64::MAX.to_le_bytes()[..], &whole[8..]].concat();
    let large = [&(whole.len() as u64).to_le_bytes()[..], &whole[8..]].concat();
    let overflowing = r#"{"embeddings.word_embeddings.weight":{"dtype":"F32","shape":[9223372036854775807,9],"data_offsets":[0,4]}}"#;
    let overlapping = r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let outside = r#"{"a":{"dtype":"F32","shape":[4611686018427387903],"data_offsets":[0,18446744073709551612]}}"#;
    for (bytes, part) in [
        (vec![], "truncated"),
        (whole[..7].to_vec(), "truncated"),
        (whole[..100].to_vec(), "truncated"),
        (whole[..whole.len() - 1].to_vec(), "its header asks for"),
        ([&whole[..], b"x"].concat(), "its header asks for"),
        (absurd, "truncated"),
        (large, "truncated"),
        (with_header("{", b""), "malformed"),
        (with_header("[]", b""), "malformed"),
        (with_header("{}", b""), "there must be one tensor"),
        (with_header(overflowing, b"1234"), "malformed"),
        (with_header(overlapping, b"1234"), "malformed"),
        (with_header(outside, b"1234"), "malformed"),
        (b"PK\x03\x04 a zip archive of PyTorch".to_vec(), "truncated or not"),
    ] {
        let folder = copy("bert");
        std::fs::write(folder.path().join("model.safetensors"), bytes).unwrap();
        expect(load(folder.path()), &["model.safetensors: ", part]);
    }
}

#[test]
fn values_and_types_that_no_training_gives_are_refused() {
    let whole = std::fs::read(tiny("bert").join("model.safetensors")).unwrap();
    let mut infinite = whole.clone();
    infinite.truncate(whole.len() - 4);
    infinite.extend(f32::NAN.to_le_bytes());
    let text: Vec<u8> =
        String::from_utf8_lossy(&whole[8..9000]).replace("\"F32\"", "\"I32\"").into_bytes();
    let integers = [&whole[..8], &text[..8992.min(text.len())]].concat();
    for (bytes, part) in [(infinite, "not finite"), (integers, "f32, f16 or bf16")] {
        let folder = copy("bert");
        let mut bytes = bytes;
        bytes.extend_from_slice(&whole[bytes.len()..]);
        std::fs::write(folder.path().join("model.safetensors"), bytes).unwrap();
        expect(load(folder.path()), &["model.safetensors: ", part]);
    }
}

#[test]
fn old_names_of_norms_are_read() {
    let folder = copy("bert");
    let path = folder.path().join("model.safetensors");
    let expected = load(folder.path()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let length = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    let header = String::from_utf8(whole[8..8 + length].to_vec()).unwrap();
    let old = header
        .replace("LayerNorm.weight", "LayerNorm.gamma")
        .replace("LayerNorm.bias", "LayerNorm.beta");
    assert_ne!(old, header);
    std::fs::write(&path, with_header(&old, &whole[8 + length..])).unwrap();
    assert_eq!(load(folder.path()).unwrap(), expected);
}

#[test]
fn half_precision_is_exact() {
    for (bits, value) in [
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x3555, 0.333_251_95),
        (0x0001, 5.960_464_5e-8),
        (0x03ff, 6.097_555e-5),
        (0x7bff, 65504.0),
        (0x8000, -0.0),
    ] {
        assert_eq!(tensors::of_half(bits).to_bits(), f32::to_bits(value), "{bits:x}");
    }
    assert!(tensors::of_half(0x7c00).is_infinite() && tensors::of_half(0x7e00).is_nan());
}
