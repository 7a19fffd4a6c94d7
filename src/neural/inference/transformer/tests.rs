//! Transformers against a straightforward computation in f32.

use super::*;
use crate::neural::kernel::tests::numbers;
use crate::neural::params::{Builder, Params};
use crate::neural::transformer::LayerNorm;

/// The sizes of a transformer.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    embedding: usize,
    width: usize,
    heads: usize,
    head_width: usize,
    feed_forward: usize,
    layers: usize,
}

const TINY: Sizes =
    Sizes { embedding: 32, width: 32, heads: 4, head_width: 8, feed_forward: 64, layers: 2 };
const ODD: Sizes =
    Sizes { embedding: 21, width: 21, heads: 3, head_width: 7, feed_forward: 30, layers: 2 };
const PROJECTED: Sizes =
    Sizes { embedding: 24, width: 70, heads: 2, head_width: 35, feed_forward: 150, layers: 2 };
const WIDE: Sizes =
    Sizes { embedding: 128, width: 128, heads: 2, head_width: 64, feed_forward: 512, layers: 1 };

fn linear(builder: &mut Builder, inputs: usize, outputs: usize) -> Linear {
    let weights = builder.matrix(inputs, outputs);
    let bias = builder.vector_of(|at| (at % 7) as f32 / 10.0 - 0.3, outputs);
    Linear { weights, bias }
}

fn norm(builder: &mut Builder, width: usize) -> LayerNorm {
    let scale = builder.vector_of(|at| 0.8 + (at % 5) as f32 / 10.0, width);
    let shift = builder.vector_of(|at| (at % 3) as f32 / 5.0 - 0.2, width);
    LayerNorm { scale, shift, epsilon: 1e-12 }
}

fn transformer(sizes: Sizes, activation: Activation) -> (Params, Transformer) {
    let Sizes { embedding, width, heads, head_width, feed_forward, layers } = sizes;
    let mut builder = Builder::new(Some(8));
    let embedding_norm = norm(&mut builder, embedding);
    let projection = (embedding != width).then(|| linear(&mut builder, embedding, width));
    let layers = (0..layers).map(|_| TransformerLayer {
        input: linear(&mut builder, width, 3 * heads * head_width),
        output: linear(&mut builder, heads * head_width, width),
        attention_norm: norm(&mut builder, width),
        up: linear(&mut builder, width, feed_forward),
        down: linear(&mut builder, feed_forward, width),
        norm: norm(&mut builder, width),
        heads: heads as u32,
        activation,
    });
    let layers = layers.collect();
    (builder.finish().unwrap(), Transformer { embedding_norm, projection, layers })
}

/// Rows of numbers.
type Rows = Vec<Vec<f32>>;

fn product(params: &Params, linear: Linear, x: &Rows) -> Rows {
    let (weights, bias) = (params.of(linear.weights), params.of(linear.bias));
    let column = |row: &[f32], column: usize| {
        let weights = weights[column..].iter().step_by(bias.len());
        bias[column] + row.iter().zip(weights).map(|(x, w)| x * w).sum::<f32>()
    };
    x.iter().map(|row| (0..bias.len()).map(|at| column(row, at)).collect()).collect()
}

fn normalized(params: &Params, norm: LayerNorm, x: &Rows) -> Rows {
    let normalized = |row: &Vec<f32>| {
        let n = row.len() as f32;
        let mean = row.iter().sum::<f32>() / n;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / n;
        let numbers = row.iter().zip(params.of(norm.scale)).zip(params.of(norm.shift));
        let number = |((x, scale), shift): ((&f32, _), _)| {
            (x - mean) / (variance + norm.epsilon).sqrt() * scale + shift
        };
        numbers.map(number).collect()
    };
    x.iter().map(normalized).collect()
}

fn sum(a: &Rows, b: &Rows) -> Rows {
    let sum = |(a, b): (&Vec<f32>, &Vec<f32>)| a.iter().zip(b).map(|(a, b)| a + b).collect();
    a.iter().zip(b).map(sum).collect()
}

fn attention(x: &Rows, heads: usize) -> Rows {
    let width = x[0].len() / 3;
    let size = width / heads;
    let mut out = vec![vec![0.0; width]; x.len()];
    for (query, out) in x.iter().zip(&mut out) {
        for head in 0..heads {
            let own = |part: usize| part * width + head * size..part * width + (head + 1) * size;
            let score = |key: &Vec<f32>| {
                let pairs = query[own(0)].iter().zip(&key[own(1)]);
                pairs.map(|(q, k)| q * k).sum::<f32>() / (size as f32).sqrt()
            };
            let shares: Vec<f32> = x.iter().map(|key| score(key).exp()).collect();
            let all: f32 = shares.iter().sum();
            for (value, share) in x.iter().zip(shares) {
                for (out, value) in out[own(0)].iter_mut().zip(&value[own(2)]) {
                    *out += share / all * value;
                }
            }
        }
    }
    out
}

fn activate(x: f32, activation: Activation) -> f32 {
    match activation {
        Activation::Gelu => crate::neural::functions::gelu(x),
        Activation::GeluTanh => crate::neural::functions::gelu_tanh(x),
        Activation::Relu => x.max(0.0),
    }
}

/// The hidden states by the definition.
fn reference(params: &Params, transformer: &Transformer, x: &[f32]) -> Vec<f32> {
    let width = transformer.embedding_norm.scale.columns as usize;
    let x = x.chunks_exact(width).map(<[f32]>::to_vec).collect();
    let mut hidden = normalized(params, transformer.embedding_norm, &x);
    if let Some(projection) = transformer.projection {
        hidden = product(params, projection, &hidden);
    }
    for layer in &transformer.layers {
        let context = attention(&product(params, layer.input, &hidden), layer.heads as usize);
        let out = product(params, layer.output, &context);
        hidden = normalized(params, layer.attention_norm, &sum(&hidden, &out));
        let mut up = product(params, layer.up, &hidden);
        up.iter_mut().flatten().for_each(|x| *x = activate(*x, layer.activation));
        let out = product(params, layer.down, &up);
        hidden = normalized(params, layer.norm, &sum(&hidden, &out));
    }
    hidden.concat()
}

/// The hidden states with every instruction set, which must be the same.
fn run(packed: &PackedTransformer, x: &[f32]) -> Vec<f32> {
    let mut all = Vec::new();
    for set in InstructionSet::available() {
        let (mut x, mut scratch) = (x.to_vec(), TransformerScratch::default());
        packed.run(set, &mut x, &mut scratch);
        all.push(x);
    }
    let bits = |x: &Vec<f32>| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert!(all.iter().all(|x| bits(x) == bits(&all[0])));
    all.swap_remove(0)
}

/// Hidden states are near those of the definition, for any sizes and numbers of rows, and the same with every
/// instruction set.
#[test]
fn transformers_are_near_their_definition() {
    use Activation::{Gelu, GeluTanh, Relu};
    let kinds = [(TINY, Gelu), (ODD, Relu), (PROJECTED, GeluTanh), (WIDE, Gelu)];
    for (sizes, activation) in kinds {
        let (params, transformer) = transformer(sizes, activation);
        let packed = PackedTransformer::pack(&Quantized::new(&params), &transformer);
        assert_eq!((packed.embedding_width(), packed.width()), (sizes.embedding, sizes.width));
        for rows in [1, 2, 5, 33, 70] {
            let x: Vec<f32> =
                numbers(rows * sizes.embedding, 4).iter().map(|x| (3.0 * x).sin()).collect();
            let (found, expected) = (run(&packed, &x), reference(&params, &transformer, &x));
            assert_eq!(found.len(), expected.len());
            let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
            let (most, mean) = (off.clone().fold(0.0, f32::max), off.sum::<f32>());
            let mean = mean / found.len() as f32;
            assert!(most < 0.12 && mean < 0.02, "{sizes:?} {rows}: {most} {mean}");
        }
    }
}

/// Hidden states do not depend on what was computed before with the same scratch memory.
#[test]
fn scratch_memory_can_be_used_again() {
    let (params, transformer) = transformer(PROJECTED, Activation::Gelu);
    let packed = PackedTransformer::pack(&Quantized::new(&params), &transformer);
    let mut scratch = TransformerScratch::default();
    // An emulator takes minutes for the longest.
    let longest = if cfg!(target_arch = "aarch64") { 70 } else { 530 };
    for rows in [0, 5, 33, 1, longest, 2] {
        let x = numbers(rows * PROJECTED.embedding, 6);
        let (expected, mut found) = (run(&packed, &x), x.clone());
        packed.run(InstructionSet::detect(), &mut found, &mut scratch);
        assert_eq!(found, expected);
    }
}

/// Weights and inputs of any size: the hidden states may be anything.
#[test]
fn any_finite_numbers_are_accepted() {
    let (mut params, transformer) = transformer(ODD, Activation::Gelu);
    for size in [f32::MAX, 1e30, 1e-40, 0.0] {
        let values: Vec<f32> = numbers(params.len(), 5).iter().map(|x| x.signum() * size).collect();
        params.set(&values).unwrap();
        let packed = PackedTransformer::pack(&Quantized::new(&params), &transformer);
        for input in [f32::MAX, 1.0, 1e-40, 0.0] {
            for set in InstructionSet::available() {
                let mut x: Vec<f32> =
                    numbers(7 * 21, 6).iter().map(|x| x.signum() * input).collect();
                packed.run(set, &mut x, &mut TransformerScratch::default());
                assert_eq!(x.len(), 7 * 21);
            }
        }
    }
}
