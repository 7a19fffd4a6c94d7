//! How fast one epoch over the sample is: online on the gold path, online with exploration, and over
//! instances collected before; and how fast whole presets train that learn in other ways.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use srparse::classifier::perceptron::{Perceptron, PerceptronParams};
use srparse::classifier::{Fit, Learner};
use srparse::feature::{Indicators, Templates};
use srparse::observer::Silent;
use srparse::oracle::binary::NextBracket;
use srparse::oracle::replay::Replay;
use srparse::preset::Preset;
use srparse::preset::fit::{TreeSet, Watch, fit};
use srparse::preset::plan::Plan;
use srparse::scorer::OnlinePerceptron;
use srparse::scorer::factored::Classes;
use srparse::symbols::Vocabulary;
use srparse::train::online::{Exploration, Online};
use srparse::train::{Example, batch};
use srparse::transition::binary::Binary;
use srparse::tree::Tree;
use srparse::tree::heads::HeadRules;
use srparse::treebank::{Cleaning, ReadOptions, read_all};

/// What all learners learn from.
struct Data {
    system: Binary,
    examples: Vec<Example>,
    templates: Templates,
    classes: Classes,
}

fn sample() -> Data {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample/train.mrg");
    let (trees, _) = read_all(&[sample], &ReadOptions::default()).expect("the sample reads");
    let heads = HeadRules::named("collins-modified").expect("built in");
    let prepare = |tree: Tree| {
        let mut tree = Cleaning::default().apply(tree).tree;
        heads.apply(&mut tree);
        tree
    };
    let trees: Vec<Tree> = trees.into_iter().map(prepare).collect();
    let system = Binary::of_trees(&trees).expect("the sample fits");
    let vocabulary = Vocabulary::of(trees.iter().map(Tree::tokens), 1);
    let encode = |tree: Tree| Example { sentence: vocabulary.encode(tree.tokens()), tree };
    let classes = Classes::of(system.actions());
    let templates = Templates::named("rich").expect("built in");
    Data { examples: trees.into_iter().map(encode).collect(), system, templates, classes }
}

/// One epoch of the online perceptron.
fn online(data: &Data, exploration: Option<Exploration>) -> usize {
    let Data { system, examples, templates, classes } = data;
    let mut learner = OnlinePerceptron::untrained(templates, classes.clone(), false);
    let mut progress = |_| {};
    let mut online = Online { epochs: 1, seed: 1, progress: &mut progress, stop: &|| false };
    let go_on = |_: &OnlinePerceptron, _| Ok(ControlFlow::Continue(()));
    let trained = match exploration {
        None => online.on_gold_path(system, &Replay, &mut learner, examples, go_on),
        Some(exploration) => {
            online.exploring(system, &NextBracket, &mut learner, examples, exploration, go_on)
        }
    };
    trained.expect("the sample fits");
    learner.n_features()
}

fn learning(criterion: &mut Criterion) {
    let data = sample();
    let Data { system, examples, templates, classes } = &data;
    let mut group = criterion.benchmark_group("learning");
    group.sample_size(10).throughput(Throughput::Elements(examples.len() as u64));
    let id = |name| BenchmarkId::new(name, examples.len());
    group.bench_function(id("online-gold-path"), |b| b.iter(|| black_box(online(&data, None))));
    let exploration = Exploration { from_epoch: 1, probability: 0.9, margin: 0.0 };
    group.bench_function(id("online-exploring"), |b| {
        b.iter(|| black_box(online(&data, Some(exploration))));
    });
    let instances = batch::collect(system, &Replay, examples, templates, classes, false)
        .expect("the sample fits");
    let params = PerceptronParams { epochs: 1, ..PerceptronParams::default() };
    let learner = Perceptron { params, indicators: Indicators::new(templates) };
    group.bench_function(BenchmarkId::new("batch", instances.len()), |b| {
        b.iter(|| {
            let fit = Fit::quiet(1);
            black_box(learner.fit(&instances, &fit).is_ok())
        });
    });
    group.finish();
}

/// Boosted trees and networks, a little of each.
fn presets(criterion: &mut Criterion) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample/train.mrg");
    let (trees, _) = read_all(&[sample], &ReadOptions::default()).expect("the sample reads");
    let train = TreeSet { files: vec!["train.mrg".to_owned()], trees };
    let mut group = criterion.benchmark_group("presets");
    group.sample_size(10);
    for (name, settings) in [
        ("turian-2005-free", ["max_words=15", "min_reduction=5"]),
        ("accurate", ["learner.epochs=1", "max_words=20"]),
        ("fernandez-gomez-2018-dynamic", ["learner.epochs=1", "max_words=20"]),
    ] {
        let settings = settings.map(str::to_owned);
        let preset = Preset::load(name, &settings).expect("built in");
        let plan = Plan::new(preset).expect("built in");
        group.bench_function(name, |b| {
            b.iter(|| {
                let watch = &Watch::new(&Silent);
                black_box(fit(&plan, &train, &TreeSet::default(), 1, watch).is_ok())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, learning, presets);
criterion_main!(benches);
