"""Makes a tiny encoder of each family, with random weights, and golden numbers for it.

    pip install torch transformers sentencepiece protobuf
    python tests/encoders/make.py

Each folder has an encoder in the layout of Hugging Face and `golden.json`:

    {"sentences": [{"words": [...], "pieces": [[...], ...], "hidden": [[...], ...]}, ...]}

`pieces` are the ids of the pieces of each word. The input of the encoder is the first special piece ([CLS] or <s>), the
pieces of all words, the last special piece ([SEP] or </s>); `hidden` has a row for each of them: the hidden states of
the last layer, rounded to 6 digits. Words reach the reference tokenizer without Penn escapes, one by one; byte-level
BPE sees a space before each.
"""

import collections
import json
import pathlib
import shutil
import tempfile

import sentencepiece
import tokenizers
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

HERE = pathlib.Path(__file__).parent
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
POSITIONS = 72

TEXT = """
The old miller carried seven sacks of flour across the frozen river. Nobody believed her, but she laughed and walked on.
"Why not?" asked the younger brother; he had never seen the mill (or its wheel) before. They weren't hungry: 3,500 loaves!
In the village of Brün the café opens at 6.30 every morning, and naïve travellers order crème brûlée for $4.25.
Walking, talking, running and unbelievably tired walkers stopped walking. The wheels of the mills turned and turned.
La rivière gelée était belle; Ärzte übten Größe. El niño comió piñas mañana. Dvě želvy šly k řece.
老磨坊在河边 。 她 笑 了 。 川 は 凍って いた 。 わたし は パン を 食べる 。 강 은 얼었다 .
""".strip().split("\n")

SENTENCES = [
    ["The", "old", "miller", "laughed", ",", "and", "nobody", "walked", "on", "."],
    ["-LRB-", "``", "Why", "not", "?", "''", "asked", "Brün", "'s", "-LSB-", "3,500", "-RSB-", "mills", "-RRB-"],
    ["Crème", "brûlée", "costs", "$", "4.25", "at", "the", "CAFÉ", "—", "unbelievably", "cheap", "!", "…"],
    ["她", "笑了", "。", "川", "は", "凍っていた", "강은", "ﬁn", "Ｗｉｄｅ", "½", "ﾊﾟﾝ"],
    ["U.S.", "🙂", "e\u0301t\u00e9", "n't", "we'll", "x\u00a0y", "\u200b", "Ǆ", "i̇İ", "a#b", "##a"],
]
ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}


def counted(parts, n):
    """The `n` most frequent parts; of equally frequent ones the first."""
    return [part for part, _ in collections.Counter(parts).most_common(n)]


def wordpiece(lowercase):
    """A WordPiece tokenizer that knows all characters, frequent beginnings and frequent ends of words."""
    normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    splitter = pre_tokenizers.BertPreTokenizer()
    words = [word for line in TEXT for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(line))]
    letters = sorted(set("".join(words)))
    begins = counted((word[:end] for word in words for end in range(2, len(word) + 1)), 70)
    ends = counted((word[start:] for word in words for start in range(1, len(word) - 1)), 40)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    pieces += begins + [f"##{end}" for end in ends]
    vocabulary = {piece: id for id, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    tokenizer.add_special_tokens(pieces[:5])
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def byte_level():
    """A byte-level BPE tokenizer with the 80 first merges of the text."""
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words = [list(word) for line in TEXT for word, _ in splitter.pre_tokenize_str(" " + line)]
    merges = []
    for _ in range(80):
        (merge,) = counted((pair for word in words for pair in zip(word, word[1:])), 1)
        merges.append(merge)
        for word in words:
            for at in reversed(range(len(word) - 1)):
                if tuple(word[at : at + 2]) == merge:
                    word[at : at + 2] = ["".join(merge)]
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = special + sorted(pre_tokenizers.ByteLevel.alphabet()) + ["".join(merge) for merge in merges]
    vocabulary = {piece: id for id, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = splitter
    tokenizer.add_special_tokens(special)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def unigram():
    """A Unigram tokenizer as XLM-R's: with a compiled table of replacements, here a small one of our own."""
    rules = {"ﬁ": "fi", "½": "1/2", "…": "...", "\u00a0": " ", "\u200b": " ", "ﾊﾟ": "パ", "ﾝ": "ン", "Ǆ": "DŽ"}
    rules |= {chr(0xFEE0 + code): chr(code) for code in range(33, 127)}
    rules |= {"e\u0301": "\u00e9", "t\u00e9": "te\u0301"}
    points = lambda text: " ".join(f"{ord(character):X}" for character in text)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        table = "\n".join(f"{points(a)}\t{points(b)}" for a, b in rules.items())
        (folder / "rules.tsv").write_text(table + "\n")
        (folder / "text").write_text("\n".join(TEXT))
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"),
            model_prefix=str(folder / "model"),
            vocab_size=156,
            normalization_rule_tsv=str(folder / "rules.tsv"),
            minloglevel=2,
        )
        from sentencepiece import sentencepiece_model_pb2 as model_pb2

        model = model_pb2.ModelProto()
        model.ParseFromString((folder / "model.model").read_bytes())
    pieces = [(piece.piece, piece.score) for piece in model.pieces][3:]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = [(name, 0.0) for name in special] + pieces + [("<mask>", 0.0)]
    tokenizer = tokenizers.Tokenizer(models.Unigram(vocabulary, unk_id=3))
    tokenizer.normalizer = normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")]
    )
    tokenizer.add_special_tokens(special + ["<mask>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    return tokenizer


def randomize(model, seed, dtype):
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn_like(parameter)
            norm = "LayerNorm.weight" in name or "layer_norm.weight" in name
            parameter.copy_(1 + 0.2 * noise if norm else 0.25 * noise)
            parameter.copy_(parameter.to(dtype).float())
    return model.eval()


def save_weights(folder, model, prefix, dtype, shards):
    tensors = {
        prefix + name: tensor.to(dtype).contiguous()
        for name, tensor in model.state_dict().items()
        if "position_ids" not in name and "pooler" not in name
    }
    if shards == 1:
        return save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    names, weight_map = sorted(tensors), {}
    for shard in range(shards):
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        part = names[shard::shards]
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
        weight_map |= {name: file for name in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}, indent=0))


def golden(tokenizer, model, ends, space):
    sentences = []
    for words in SENTENCES:
        texts = [space + ESCAPES.get(word, word) for word in words]
        pieces = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        unknown = next(tokenizer.token_to_id(name) for name in ("[UNK]", "<unk>") if tokenizer.token_to_id(name) is not None)
        pieces = [ids or [unknown] for ids in pieces]
        row = [ends[0], *sum(pieces, []), ends[1]]
        assert len(row) <= POSITIONS, len(row)
        with torch.no_grad():
            hidden = model(input_ids=torch.tensor([row])).last_hidden_state[0]
        rounded = [[round(value, 6) for value in values] for values in hidden.tolist()]
        sentences.append({"words": words, "pieces": pieces, "hidden": rounded})
    return {"sentences": sentences}


def make(name, tokenizer, config, model, *, ends, space="", prefix="", dtype=torch.float32, shards=1, vocab_txt=False):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    config = config(vocab_size=tokenizer.get_vocab_size())
    model = randomize(model(config), sum(map(ord, name)), dtype)
    values = json.loads(config.to_json_string(use_diff=False))
    kept = ("vocab", "hidden", "dim", "layer", "head", "size", "position", "type", "activation", "pad", "is_decoder")
    values = {key: value for key, value in values.items() if any(part in key for part in kept)}
    values["model_type"] = config.model_type
    (folder / "config.json").write_text(json.dumps(values, indent=2) + "\n")
    save_weights(folder, model, prefix, dtype, shards)
    if vocab_txt:
        vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece, _ in vocabulary))
        (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}\n')
    else:
        tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    numbers = golden(tokenizer, model, [tokenizer.token_to_id(end) for end in ends], space)
    (folder / "golden.json").write_text(json.dumps(numbers, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(name, len(values), sum(file.stat().st_size for file in folder.iterdir()))


def main():
    bert, roberta = ("[CLS]", "[SEP]"), ("<s>", "</s>")
    common = SIZES | {"max_position_embeddings": POSITIONS}
    offset = SIZES | {"max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1, "pad_token_id": 1}
    make(
        "bert",
        wordpiece(True),
        lambda **sizes: transformers.BertConfig(**common, **sizes),
        lambda config: transformers.BertModel(config, add_pooling_layer=False),
        ends=bert,
    )
    make(
        "distilbert",
        wordpiece(True),
        lambda **sizes: transformers.DistilBertConfig(
            dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=POSITIONS, **sizes
        ),
        transformers.DistilBertModel,
        ends=bert,
        prefix="distilbert.",
        dtype=torch.float16,
        vocab_txt=True,
    )
    make(
        "electra",
        wordpiece(False),
        lambda **sizes: transformers.ElectraConfig(**common, embedding_size=16, hidden_act="gelu_new", **sizes),
        transformers.ElectraModel,
        ends=bert,
        prefix="electra.",
    )
    make(
        "roberta",
        byte_level(),
        lambda **sizes: transformers.RobertaConfig(**offset, layer_norm_eps=1e-5, **sizes),
        lambda config: transformers.RobertaModel(config, add_pooling_layer=False),
        ends=roberta,
        space=" ",
        prefix="roberta.",
        dtype=torch.bfloat16,
    )
    make(
        "xlm-roberta",
        unigram(),
        lambda **sizes: transformers.XLMRobertaConfig(**offset, layer_norm_eps=1e-5, **sizes),
        lambda config: transformers.XLMRobertaModel(config, add_pooling_layer=False),
        ends=roberta,
        dtype=torch.float16,
        shards=2,
    )


main()
