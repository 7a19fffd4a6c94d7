//! How fast raw text is split into sentences and tokens: made-up text, and text of a real treebank where
//! `SRPARSE_TREEBANKS` names the folder that has it.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use srparse::Treebank;
use srparse::text::{Splitter, TextSettings, Tokenization};

/// The words of a treebank, separated by spaces, one sentence per line.
fn text(path: &Path) -> Option<String> {
    let words = |tree: &srparse::Tree| {
        let words = tree.tokens().iter().filter(|token| token.tag != "-NONE-");
        words.map(|token| token.word.as_str()).collect::<Vec<_>>().join(" ") + "\n"
    };
    Some(Treebank::open(path).ok()?.trees.iter().map(words).collect())
}

fn tokens(text: &str, settings: TextSettings) -> usize {
    let mut splitter = Splitter::new(settings);
    let mut tokens = 0;
    for line in text.split_inclusive('\n') {
        splitter.add_line(line);
        while let Some(sentence) = splitter.next_sentence() {
            tokens += black_box(sentence).tokens.len();
        }
    }
    tokens
}

fn benches(criterion: &mut Criterion) {
    let made_up =
        "Mrs. Reed's well-known bakery (at No. 5) can't open before 6:30, \"she said\".\n";
    let mut texts = vec![("made-up-10000", made_up.repeat(10_000))];
    if let Some(folder) = std::env::var_os("SRPARSE_TREEBANKS")
        && let Some(text) = text(&Path::new(&folder).join("gum/dev.mrg"))
    {
        texts.push(("gum-dev", text));
    }
    let mut group = criterion.benchmark_group("text");
    group.sample_size(10);
    for (name, text) in &texts {
        for (rules, tokenization) in
            [("penn", Tokenization::Penn), ("unicode", Tokenization::Unicode)]
        {
            let settings = TextSettings { tokenization, ..TextSettings::default() };
            group.throughput(Throughput::Elements(tokens(text, settings) as u64));
            group.bench_function(format!("{rules}/{name}"), |b| b.iter(|| tokens(text, settings)));
        }
    }
    group.finish();
}

criterion_group!(text_benches, benches);
criterion_main!(text_benches);
