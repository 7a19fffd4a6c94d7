//! How fast trees are read and cleaned: on made-up trees, and on a real treebank where
//! `SRPARSE_TREEBANKS` names the folder that has it.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use srparse::treebank::clean::Cleaning;
use srparse::treebank::penn::PennReader;
use srparse::treebank::tiger_xml::TigerXmlReader;
use srparse::treebank::{Encoding, FormatReader};

/// Trees with function tags and traces, all of one shape, of 22 tokens.
fn made_up(n: usize) -> Vec<u8> {
    let np = "(NP (NP (DT the) (JJ quick) (NN example)) (PP-LOC (IN of) (NP (NNS brackets))))";
    let tree = format!(
        "( (S (NP-SBJ-1 {np}) (VP (VBZ is) (VP (VBN read) (NP (-NONE- *-1)) (PP-TMP (IN in) \
         {np}) (, ,) (SBAR (IN while) (S {np} (VP (VBZ waits)))))) (. .)) )\n"
    );
    tree.repeat(n).into_bytes()
}

fn read_and_clean(text: &[u8], cleaning: Option<&Cleaning>) -> usize {
    let mut reader = PennReader::new(text, "bench", Encoding::Utf8);
    let mut tokens = 0;
    while let Ok(Some(tree)) = reader.read() {
        tokens += match cleaning {
            Some(cleaning) => black_box(cleaning.apply(tree)).tokens().len(),
            None => black_box(tree).tokens().len(),
        };
    }
    tokens
}

/// Nodes in each other, each with a word far away from the others, as TIGER-XML on one line or on many. Between these
/// words are words of the outermost node, so that nothing that is raised becomes adjacent on its way.
fn crossing(n: usize, line_end: &str) -> String {
    let mut xml = String::from("<corpus><s id='s'><graph><terminals>");
    let mut add = |text: String| xml.extend([&text, line_end]);
    (0..3 * n).for_each(|at| add(format!("<t id='t{at}' word='w' pos='T'/>")));
    add("</terminals><nonterminals>".to_owned());
    let edge = |label: &str, child: char, at: usize| {
        format!("<edge label='{label}' idref='{child}{at}'/>")
    };
    for at in 0..n {
        add(format!("<nt id='n{at}' cat='N'>"));
        if at > 0 {
            add(edge("MO", 'n', at - 1));
        }
        add(edge("HD", 't', at));
        add(edge("NK", 't', n + 2 * at));
        if at + 1 == n {
            (0..n).for_each(|other| add(edge("NK", 't', n + 2 * other + 1)));
        }
        add("</nt>".to_owned());
    }
    add("</nonterminals></graph></s></corpus>".to_owned());
    xml
}

/// Each size has twice the work of the one before, not four times, and lines make no difference.
fn tiger(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tiger-xml");
    group.sample_size(10);
    for (name, line_end) in [("one-line", ""), ("lines", "\n")] {
        for n in [1_000, 2_000, 4_000, 8_000] {
            let text: &'static str = crossing(n, line_end).leak();
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(format!("crossing-{name}/{n}"), |b| {
                b.iter(|| {
                    TigerXmlReader::new(Box::new(text.as_bytes()), "bench", Encoding::Utf8).read()
                });
            });
        }
    }
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    let mut texts = vec![("made-up-10000".to_owned(), made_up(10_000))];
    if let Some(folder) = std::env::var_os("SRPARSE_TREEBANKS")
        && let Ok(text) = std::fs::read(std::path::Path::new(&folder).join("craft/train.mrg"))
    {
        texts.push(("craft-train".to_owned(), text));
    }
    let mut group = criterion.benchmark_group("penn");
    group.sample_size(10);
    for (name, text) in &texts {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("read/{name}"), |b| b.iter(|| read_and_clean(text, None)));
        let cleaning = Cleaning::default();
        group.bench_function(format!("read-and-clean/{name}"), |b| {
            b.iter(|| read_and_clean(text, Some(&cleaning)));
        });
    }
    group.finish();
}

criterion_group!(treebank, benches, tiger);
criterion_main!(treebank);
