//! How fast the embedded English model parses: the sentences of the sample, and one very long one.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use srparse::model::Model;
use srparse::preset::load::load;
use srparse::tree::Token;
use srparse::treebank::{Cleaning, ReadOptions, read_all};

fn sample() -> Vec<Vec<Token>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample");
    let files = ["train.mrg", "dev.mrg"].map(|name| folder.join(name));
    let (trees, _) = read_all(&files, &ReadOptions::default()).expect("the sample reads");
    trees.into_iter().map(|tree| Cleaning::default().apply(tree).tree.into_tokens()).collect()
}

fn parsing(criterion: &mut Criterion) {
    let model = Model::embedded().expect("part of the program");
    let parser = load(&model, &[]).expect("the embedded model loads");
    let sentences = sample();
    let long: Vec<Token> = sentences.iter().flatten().cycle().take(10_000).cloned().collect();
    let mut group = criterion.benchmark_group("parsing");
    for (name, sentences) in [("sample", sentences), ("long", vec![long])] {
        let words: usize = sentences.iter().map(Vec::len).sum();
        group.throughput(Throughput::Elements(sentences.len() as u64));
        let size = format!("{}x{}", sentences.len(), words / sentences.len());
        let mut worker = parser.worker();
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            bencher.iter(|| {
                for tokens in &sentences {
                    black_box(worker.parse(tokens));
                }
            });
        });
    }
    group.finish();
}

fn loading(criterion: &mut Criterion) {
    let model = Model::embedded().expect("part of the program");
    criterion.bench_function("parsing/load", |bencher| {
        bencher.iter(|| black_box(load(&model, &[]).is_ok()));
    });
}

criterion_group!(benches, parsing, loading);
criterion_main!(benches);
