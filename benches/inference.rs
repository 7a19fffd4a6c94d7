//! How many words an LSTM of the size of `accurate` reads, with each instruction set, and how many both directions read
//! and learn from in training, by the number of sentences that step together.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use srparse::neural::inference::{InstructionSet, PackedLstm, Places, Rows, Steps};
use srparse::neural::layers::{BiLstm, Layout};
use srparse::neural::params::Builder;
use srparse::neural::{Gradients, Lstm, Quantized};

const WORDS: usize = 26;
const INPUTS: usize = 164;
const UNITS: usize = 160;

fn lstm(criterion: &mut Criterion) {
    let mut builder = Builder::new(Some(1));
    let lstm = Lstm {
        input: builder.matrix(INPUTS, 4 * UNITS),
        bias: builder.vector(4 * UNITS, 0.0),
        recurrent: builder.matrix(UNITS, 4 * UNITS),
    };
    let params = builder.finish().expect("it is small");
    let packed = PackedLstm::pack(&Quantized::new(&params), lstm, &Places::blocks(1, INPUTS, 4));
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
        let layout = Layout::new(&vec![WORDS; sentences]);
        let x: Vec<f32> =
            (0..layout.rows() * INPUTS).map(|at| (at % 9) as f32 / 4.0 - 1.0).collect();
        let (mut layer, mut gradients) = (BiLstm::new(lstms), Gradients::default());
        let (mut out, mut d_x) = (Vec::new(), Vec::new());
        group.throughput(Throughput::Elements(layout.rows() as u64));
        group.bench_function(BenchmarkId::from_parameter(sentences), |bencher| {
            bencher.iter(|| {
                gradients.clear(&params);
                layer.forward(&params, &layout, black_box(&x), &mut out);
                layer.backward(&params, &layout, (&x, &out), &mut d_x, &mut gradients);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, lstm, training);
criterion_main!(benches);
