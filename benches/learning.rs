//! How fast one epoch over the sample is: online on the gold path, online with exploration, structured, over
//! instances collected before; and a little of boosted trees and networks. Except for the instances all train
//! whole models, so the time includes cleaning and packing.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use srparse::classifier::perceptron::{Perceptron, PerceptronParams};
use srparse::classifier::{Fit, Instances, Learner};
use srparse::feature::{Indicators, Templates};
use srparse::oracle::Example;
use srparse::scorer::factored::Classes;
use srparse::symbols::Vocabulary;
use srparse::train::batch;
use srparse::transition::binary::Binary;
use srparse::tree::heads::HeadRules;
use srparse::treebank::Cleaning;
use srparse::{Preset, Trainer, Tree, Treebank};

fn sample() -> Treebank {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample/train.mrg");
    Treebank::open(path).expect("the sample is readable")
}

/// The decisions on the way to the trees of the sample.
fn instances(templates: &Templates) -> Instances {
    let heads = HeadRules::named("collins-modified").expect("built in");
    let prepare = |tree: Tree| {
        let mut tree = Cleaning::default().apply(tree);
        heads.apply(&mut tree);
        tree
    };
    let trees: Vec<Tree> = sample().trees.into_iter().map(prepare).collect();
    let system = Binary::of_trees(&trees).expect("the sample fits");
    let vocabulary = Vocabulary::of(trees.iter().map(Tree::tokens), 1);
    let encode = |tree: Tree| Example { sentence: vocabulary.encode(tree.tokens()), tree };
    let examples: Vec<Example> = trees.into_iter().map(encode).collect();
    let classes = Classes::of(&system);
    batch::collect(&system, &examples, templates, &classes, false).expect("the sample fits")
}

fn classifiers(criterion: &mut Criterion) {
    let templates = Templates::named("rich").expect("built in");
    let instances = instances(&templates);
    let params = PerceptronParams { epochs: 1, ..PerceptronParams::default() };
    let learner = Perceptron { params, indicators: Indicators::new(&templates) };
    let mut group = criterion.benchmark_group("learning");
    group.sample_size(10).throughput(Throughput::Elements(instances.len() as u64));
    group.bench_function(BenchmarkId::new("batch", instances.len()), |bencher| {
        bencher.iter(|| black_box(learner.fit(&instances, &Fit::quiet(1)).is_ok()));
    });
    group.finish();
}

/// Benchmarks: a name, a preset, and what is set.
const PRESETS: [(&str, &str, &[&str]); 6] = [
    ("online-gold-path", "binary-static", &["epochs=1"]),
    ("online-exploring", "binary-dynamic", &["epochs=1", "exploration.from_epoch=1"]),
    ("structured", "beam", &["epochs=1"]),
    ("boosted-trees", "turian-2005-free", &["max_words=15", "min_reduction=5"]),
    ("positions", "accurate", &["learner.epochs=1", "max_words=20"]),
    ("stack-lstm", "fernandez-gomez-2018-dynamic", &["learner.epochs=1", "max_words=20"]),
];

fn presets(criterion: &mut Criterion) {
    let train = sample();
    let mut group = criterion.benchmark_group("presets");
    group.sample_size(10);
    for (name, preset, settings) in PRESETS {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let preset = Preset::load(preset, &settings).expect("built in");
        let trainer = Trainer::with_preset(preset).expect("built in");
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(trainer.train(&train, &Treebank::default()).is_ok()));
        });
    }
    group.finish();
}

criterion_group!(benches, classifiers, presets);
criterion_main!(benches);
