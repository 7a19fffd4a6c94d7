//! How fast trees are searched, once they are read: on a made-up tree, and on a real treebank where `SRPARSE_TREEBANKS`
//! names the folder that has it.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use srparse::find::{Pattern, Searcher};
use srparse::{Tree, Treebank};

/// Patterns of several kinds, each with a name.
const PATTERNS: [(&str, &str); 6] = [
    ("label-that-is-rare", "SINV"),
    ("children", "NP < DT < (NN < /ion$/)"),
    ("passive", "VP < (/^VB/ < /^(am|is|are|was|were|be|been|being)$/) < (VP < VBN)"),
    ("deep", "S << (NP < CC) !<< SBAR"),
    ("head", "S <<# (VBD < was|were)"),
    ("back-reference", "(NP=top <, (NP $+ (CC $+ NP=last)) <- =last)"),
];

fn count(searcher: &mut Searcher<'_>, trees: &[Tree]) -> u64 {
    trees.iter().map(|tree| searcher.count(black_box(tree)).unwrap_or_default()).sum()
}

fn benches(criterion: &mut Criterion) {
    let np = "(NP (NP (DT the) (JJ quick) (NN example)) (PP-LOC (IN of) (NP (NNS brackets))))";
    let made_up = format!(
        "( (S (NP-SBJ-1 {np}) (VP (VBZ is) (VP (VBN read) (NP (-NONE- *-1)) (PP-TMP (IN in) {np}) (, ,) (SBAR (IN while) \
         (S {np} (VP (VBZ waits)))))) (. .)) )"
    );
    let made_up: Vec<Tree> = made_up.parse::<Tree>().into_iter().cycle().take(1000).collect();
    let mut sets = vec![("made-up", made_up)];
    if let Some(folder) = std::env::var_os("SRPARSE_TREEBANKS")
        && let Ok(treebank) = Treebank::open(Path::new(&folder).join("craft/dev.mrg"))
    {
        sets.push(("craft-dev", treebank.trees));
    }
    let mut group = criterion.benchmark_group("find");
    group.sample_size(10);
    for (set, trees) in &sets {
        group.throughput(Throughput::Elements(trees.len() as u64));
        for (name, pattern) in PATTERNS {
            let Ok(pattern) = Pattern::parse(pattern) else { continue };
            let mut searcher = Searcher::new(&pattern);
            group.bench_function(format!("{name}/{set}"), |b| {
                b.iter(|| count(&mut searcher, trees))
            });
        }
    }
    group.finish();
}

criterion_group!(find, benches);
criterion_main!(find);
