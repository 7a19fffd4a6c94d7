//! How fast the embedded English model parses: the sentences of the sample, and one very long one; and how fast
//! networks do, which have hardly learned but are as large as those that have.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use srparse::model::Model;
use srparse::observer::Silent;
use srparse::preset::Preset;
use srparse::preset::fit::{TreeSet, Watch, fit};
use srparse::preset::load::load;
use srparse::preset::plan::Plan;
use srparse::tree::{Token, Tree};
use srparse::treebank::{Cleaning, ReadOptions, read_all};

fn trees(files: &[&str]) -> Vec<Tree> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample");
    let files: Vec<_> = files.iter().map(|name| folder.join(name)).collect();
    let (trees, _) = read_all(&files, &ReadOptions::default()).expect("the sample reads");
    trees
}

fn sample() -> Vec<Vec<Token>> {
    let trees = trees(&["train.mrg", "dev.mrg"]);
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

fn networks(criterion: &mut Criterion) {
    let train = TreeSet { files: vec!["train.mrg".to_owned()], trees: trees(&["train.mrg"]) };
    let sentences = sample();
    let mut group = criterion.benchmark_group("networks");
    group.sample_size(10).throughput(Throughput::Elements(sentences.len() as u64));
    for name in ["accurate", "fernandez-gomez-2018-dynamic"] {
        let settings = ["learner.epochs=1", "max_words=10"].map(str::to_owned);
        let plan = Plan::new(Preset::load(name, &settings).expect("built in")).expect("built in");
        let model = fit(&plan, &train, &TreeSet::default(), 1, &Watch::new(&Silent));
        let parser = load(&model.expect("the sample fits"), &[]).expect("it was just trained");
        let mut worker = parser.worker();
        group.bench_function(BenchmarkId::new(name, sentences.len()), |bencher| {
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

criterion_group!(benches, parsing, networks, loading);
criterion_main!(benches);
