//! How many words an LSTM of the size of `accurate` reads, with each instruction set, how many both directions read and
//! learn from in training, by the number of sentences that step together, and the time that a transformer of the size of
//! MiniLM takes for a sentence, with each instruction set.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use srparse::neural::inference::{
    InstructionSet, PackedLstm, PackedTransformer, PaddedLayout, Rows, Steps, TransformerScratch,
};

use srparse::neural::params::Builder;
use srparse::neural::tape::Layout;
use srparse::neural::transformer::{Activation, LayerNorm, Linear, Transformer, TransformerLayer};
use srparse::neural::{Gradients, Lstm, Quantized, Tape};

const WORDS: usize = 26;
const INPUTS: usize = 164;
const UNITS: usize = 160;
/// The pieces of a sentence of `WORDS` words.
const PIECES: usize = 33;
const WIDTH: usize = 384;
const FEED_FORWARD: usize = 1_536;
const LAYERS: usize = 6;

fn lstm(criterion: &mut Criterion) {
    let mut builder = Builder::new(Some(1));
    let lstm = Lstm {
        input: builder.matrix(INPUTS, 4 * UNITS),
        bias: builder.vector(4 * UNITS, 0.0),
        recurrent: builder.matrix(UNITS, 4 * UNITS),
    };
    let params = builder.finish().expect("it is small");
    let packed =
        PackedLstm::pack(&Quantized::new(&params), lstm, &PaddedLayout::blocks(1, INPUTS, 4));
    let mut group = criterion.benchmark_group("lstm");
    group.throughput(Throughput::Elements(WORDS as u64));
    for set in InstructionSet::available() {
        let mut rows = Rows::default();
        rows.reset(WORDS, INPUTS);
        for row in 0..WORDS {
            let values: Vec<f32> =
                (0..INPUTS).map(|at| ((row + at) % 9) as f32 / 4.0 - 1.0).collect();
            rows.set_numbers(set, row, &values);
        }
        let mut steps = Steps::default();
        group.bench_function(BenchmarkId::from_parameter(set.name()), |bencher| {
            bencher.iter(|| packed.run(set, black_box(&rows), WORDS, false, &mut steps));
        });
    }
    group.finish();
}

fn training(criterion: &mut Criterion) {
    let mut builder = Builder::new(Some(1));
    let lstms = [(); 2].map(|()| Lstm {
        input: builder.matrix(INPUTS, 4 * UNITS),
        bias: builder.vector(4 * UNITS, 0.0),
        recurrent: builder.matrix(UNITS, 4 * UNITS),
    });
    let params = builder.finish().expect("it is small");
    let mut group = criterion.benchmark_group("training");
    for sentences in [1, 4, 16] {
        let layout = Arc::new(Layout::new(&vec![WORDS; sentences]));
        let x: Vec<f32> =
            (0..layout.rows() * INPUTS).map(|at| (at % 9) as f32 / 4.0 - 1.0).collect();
        let (mut tape, mut gradients) = (Tape::default(), Gradients::default());
        group.throughput(Throughput::Elements(layout.rows() as u64));
        group.bench_function(BenchmarkId::from_parameter(sentences), |bencher| {
            bencher.iter(|| {
                gradients.clear(&params);
                tape.clear();
                let x = tape.constant(black_box(&x));
                let out = tape.bilstm(&params, lstms, &layout, x);
                tape.begin_backward();
                tape.gradient_mut(out).fill(1.0);
                tape.backward(&params, &mut gradients);
            });
        });
    }
    group.finish();
}

fn linear(builder: &mut Builder, inputs: usize, outputs: usize) -> Linear {
    Linear { weights: builder.matrix(inputs, outputs), bias: builder.vector(outputs, 0.1) }
}

fn norm(builder: &mut Builder) -> LayerNorm {
    let (scale, shift) = (builder.vector(WIDTH, 1.0), builder.vector(WIDTH, 0.0));
    LayerNorm { scale, shift, epsilon: 1e-12 }
}

fn transformer(criterion: &mut Criterion) {
    let mut builder = Builder::new(Some(1));
    let embedding_norm = norm(&mut builder);
    let layers = (0..LAYERS).map(|_| TransformerLayer {
        input: linear(&mut builder, WIDTH, 3 * WIDTH),
        output: linear(&mut builder, WIDTH, WIDTH),
        attention_norm: norm(&mut builder),
        up: linear(&mut builder, WIDTH, FEED_FORWARD),
        down: linear(&mut builder, FEED_FORWARD, WIDTH),
        norm: norm(&mut builder),
        heads: 12,
        activation: Activation::Gelu,
    });
    let transformer = Transformer { embedding_norm, projection: None, layers: layers.collect() };
    let params = builder.finish().expect("it is small");
    let packed = PackedTransformer::pack(&Quantized::new(&params), &transformer);
    let embeddings: Vec<f32> =
        (0..PIECES * WIDTH).map(|at| (at * at % 1_009) as f32 / 500.0 - 1.0).collect();
    let mut group = criterion.benchmark_group("transformer");
    for set in InstructionSet::available() {
        let (mut x, mut scratch) = (Vec::new(), TransformerScratch::default());
        group.bench_function(BenchmarkId::from_parameter(set.name()), |bencher| {
            bencher.iter(|| {
                x.clone_from(&embeddings);
                packed.run(set, black_box(&mut x), &mut scratch);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, lstm, training, transformer);
criterion_main!(benches);
