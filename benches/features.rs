//! How fast states become rows of columns, and rows become one-hot ids: over the states on the way to
//! the trees of the sample, for each template file.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use srparse::feature::{Extractor, Indicators, Row, Templates, extract};
use srparse::symbols::{Sentence, Vocabulary};
use srparse::transition::binary::Binary;
use srparse::transition::{Forest, State, TransitionSystem};
use srparse::tree::heads::HeadRules;
use srparse::treebank::Cleaning;
use srparse::{Tree, Treebank};

/// The states of all gold derivations of the sample, with their sentences.
fn states() -> (Binary, Vec<(Sentence, State, Forest)>) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample/train.mrg");
    let trees = Treebank::open(sample).expect("the sample is readable").trees;
    let heads = HeadRules::named("collins-modified").expect("built in");
    let prepare = |tree: Tree| {
        let mut tree = Cleaning::default().apply(tree);
        heads.apply(&mut tree);
        tree
    };
    let trees: Vec<Tree> = trees.into_iter().map(prepare).collect();
    let system = Binary::of_trees(&trees).expect("the sample fits");
    let vocabulary = Vocabulary::of(trees.iter().map(Tree::tokens), 1);
    let mut states = Vec::new();
    for tree in &trees {
        let sentence = vocabulary.encode(tree.tokens());
        let (mut state, mut forest) = system.start(&sentence);
        for action in system.derivation(tree).expect("the sample fits") {
            states.push((sentence.clone(), state.clone(), forest.clone()));
            system.apply(&mut state, &mut forest, action);
        }
    }
    (system, states)
}

fn features(criterion: &mut Criterion) {
    let (system, states) = states();
    let mut group = criterion.benchmark_group("features");
    group.throughput(Throughput::Elements(states.len() as u64));
    for name in Templates::names() {
        let templates = Templates::named(name).expect("built in");
        let extractor = Extractor::new(&templates);
        let indicators = Indicators::new(&templates);
        let (mut places, mut row) = (extract::Scratch::default(), Row::default());
        let id = BenchmarkId::new(format!("columns/{name}"), states.len());
        group.bench_function(id, |bencher| {
            bencher.iter(|| {
                for (sentence, state, forest) in &states {
                    extractor.extract(sentence, &system.view(state, forest), &mut places, &mut row);
                    black_box(&row);
                }
            });
        });
        let rows: Vec<Row> = states
            .iter()
            .map(|(sentence, state, forest)| {
                extractor.extract(sentence, &system.view(state, forest), &mut places, &mut row);
                row.clone()
            })
            .collect();
        let mut ids = Vec::new();
        group.bench_function(BenchmarkId::new(format!("ids/{name}"), rows.len()), |bencher| {
            bencher.iter(|| {
                for row in &rows {
                    indicators.ids(row.borrow(), &mut ids);
                    black_box(&ids);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, features);
criterion_main!(benches);
