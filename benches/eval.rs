//! How fast pairs of trees are scored: generated trees of a treebank's shape and a very long one.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use srparse::eval::{Evaluation, Params};
use srparse::tree::heads::HeadRules;
use srparse::tree::{Tree, TreeBuilder};

const LABELS: [&str; 6] = ["S", "NP-SBJ", "VP", "PP", "ADVP", "NP"];
const TAGS: [&str; 6] = ["NN", "DT", "VBZ", "IN", ",", "RB"];

/// A random tree over `words` words: about as many brackets as words. The words depend on their
/// positions alone, so two trees of one length can be compared.
fn tree(words: usize, rng: &mut ChaCha8Rng) -> Tree {
    let mut builder = TreeBuilder::new();
    builder.open("TOP");
    for position in 0..words {
        while builder.depth() < 12 && rng.random_bool(0.5) {
            builder.open(LABELS[rng.random_range(0..LABELS.len())]);
        }
        builder.token(format!("w{position}"), TAGS[position % TAGS.len()]);
        while builder.depth() > 1 && rng.random_bool(0.5) {
            builder.close();
        }
    }
    while builder.depth() > 0 {
        builder.close();
    }
    builder.finish()
}

fn score(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("eval");
    for (sentences, words) in [(1000, 25), (1, 10_000)] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let pairs: Vec<(Tree, Tree)> =
            (0..sentences).map(|_| (tree(words, &mut rng), tree(words, &mut rng))).collect();
        group.throughput(Throughput::Elements(sentences));
        for heads in ["none", "collins"] {
            let id = BenchmarkId::new(format!("{sentences}x{words}"), heads);
            group.bench_with_input(id, &pairs, |bencher, pairs| {
                bencher.iter(|| {
                    let mut evaluation =
                        Evaluation::new(Params::default(), HeadRules::named(heads).ok());
                    for (gold, test) in pairs {
                        evaluation.add(gold, test);
                    }
                    black_box(evaluation.all.f1())
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, score);
criterion_main!(benches);
