//! How fast the embedded English model parses: the sentences of the sample, and one very long one; and how fast
//! networks do, which have hardly learned but are as large as those that have; and how long traces take.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use srparse::treebank::Cleaning;
use srparse::{Model, Parser, Preset, Token, Trainer, Treebank};

fn treebank(name: &str) -> Treebank {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample").join(name);
    Treebank::open(path).expect("the sample is readable")
}

fn sample() -> Vec<Vec<Token>> {
    let trees = ["train.mrg", "dev.mrg"].into_iter().flat_map(|name| treebank(name).trees);
    trees.map(|tree| Cleaning::default().apply(tree).into_tokens()).collect()
}

fn parsing(criterion: &mut Criterion) {
    let parser = Parser::embedded().expect("part of the program");
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
                    black_box(worker.parse(tokens).is_ok());
                }
            });
        });
    }
    group.finish();
}

fn networks(criterion: &mut Criterion) {
    let train = treebank("train.mrg");
    let sentences = sample();
    let mut group = criterion.benchmark_group("networks");
    group.sample_size(10).throughput(Throughput::Elements(sentences.len() as u64));
    for name in ["accurate", "fernandez-gomez-2018-dynamic"] {
        let settings = ["learner.epochs=1", "max_words=10"].map(str::to_owned);
        let preset = Preset::load(name, &settings).expect("built in");
        let trainer = Trainer::with_preset(preset).expect("built in");
        let model = trainer.train(&train, &Treebank::default()).expect("the sample fits");
        let parser = Parser::new(&model, &[]).expect("it was just trained");
        let mut worker = parser.worker();
        group.bench_function(BenchmarkId::new(name, sentences.len()), |bencher| {
            bencher.iter(|| {
                for tokens in &sentences {
                    black_box(worker.parse(tokens).is_ok());
                }
            });
        });
    }
    group.finish();
}

/// Traces of one sentence with the model that decides fastest: each size has twice the work of the one before, not four times.
fn traces(criterion: &mut Criterion) {
    let model = Model::open("english-fast").expect("part of the program");
    let parser = Parser::new(&model, &[]).expect("part of the program");
    let words = sample().concat();
    let mut group = criterion.benchmark_group("trace");
    group.sample_size(10);
    for n in [500, 1_000, 2_000, 4_000] {
        let tokens: Vec<Token> = words.iter().cycle().take(n).cloned().collect();
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("words", n), |bencher| {
            bencher.iter(|| black_box(parser.trace(&tokens, None, 5).is_ok()));
        });
    }
    group.finish();
}

fn loading(criterion: &mut Criterion) {
    let model = Model::embedded().expect("part of the program");
    criterion.bench_function("parsing/load", |bencher| {
        bencher.iter(|| black_box(Parser::new(&model, &[]).is_ok()));
    });
}

criterion_group!(benches, parsing, networks, traces, loading);
criterion_main!(benches);
