//! What training and search take, made from a few trees.

use std::path::Path;
use std::sync::Arc;

use srparse::checkpoint::Checkpoint;
use srparse::decode::{Decoded, Problem, Search, SearchScratch};
use srparse::encoder::Pretrained;
use srparse::feature::Templates;
use srparse::observer::Silent;
use srparse::oracle::{Example, OracleKind, oracle};
use srparse::scorer::{Components, Reading};
use srparse::symbols::{Sentence, Vocabulary};
use srparse::train::Session;
use srparse::train::session::{DevSet, SilverTrees};
use srparse::transition::{Oracle, TransitionSystem};
use srparse::tree::Tree;
use srparse::treebank::Cleaning;

/// Trees with their sentences in the numbers of a vocabulary.
pub fn examples_in(trees: &[Tree], vocabulary: &Vocabulary) -> Vec<Example> {
    let encode =
        |tree: &Tree| Example { sentence: vocabulary.encode(tree.tokens()), tree: tree.clone() };
    trees.iter().map(encode).collect()
}

/// Trees with their sentences in the numbers of their own vocabulary.
pub fn examples(trees: &[Tree]) -> Vec<Example> {
    examples_in(trees, &super::vocabulary(trees))
}

/// A pretrained encoder of two layers of 32 units, whose tokenizer the vocabulary gets.
fn tiny_encoder(vocabulary: &mut Vocabulary) -> Arc<Pretrained> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoders/bert");
    let checkpoint = Checkpoint::open(&folder).unwrap();
    vocabulary.set_pieces(Arc::new(checkpoint.tokenizer().unwrap()));
    let weights = Some(checkpoint.weights().unwrap());
    Arc::new(Pretrained { config: checkpoint.config().clone(), weights })
}

/// Owns what a training session borrows.
pub struct Lab<S> {
    pub system: S,
    pub templates: Templates,
    pub vocabulary: Vocabulary,
    pub examples: Vec<Example>,
    /// For networks on a pretrained encoder.
    pub encoder: Arc<Pretrained>,
    cleaning: Cleaning,
    search: Search,
}

impl<S: TransitionSystem> Lab<S> {
    /// A system with examples, the templates `rich`, no dev set and greedy search.
    pub fn new(system: S, trees: &[Tree]) -> Self {
        Self::with_vocabulary(system, super::vocabulary(trees), trees)
    }

    /// The same in the numbers of a vocabulary.
    pub fn with_vocabulary(system: S, mut vocabulary: Vocabulary, trees: &[Tree]) -> Self {
        let encoder = tiny_encoder(&mut vocabulary);
        let examples = examples_in(trees, &vocabulary);
        let templates = Templates::named("rich").unwrap();
        let (cleaning, search) = (Cleaning::none(), Search::default());
        Self { system, templates, vocabulary, examples, encoder, cleaning, search }
    }

    /// What scorers are built on.
    pub fn components(&self) -> Components<'_> {
        let Self { system, templates, vocabulary, .. } = self;
        Components { system, templates, vocabulary }
    }

    /// A silent session of seed 1.
    pub fn session(&self) -> Session<'_> {
        let dev = DevSet {
            files: &[],
            trees: &[],
            tagged: None,
            max_words: 0,
            cleaning: &self.cleaning,
            search: &self.search,
        };
        Session {
            components: self.components(),
            examples: &self.examples,
            silver: SilverTrees { gold: self.examples.len(), share: 0.0 },
            dev,
            embeddings: None,
            encoder: Some(&self.encoder),
            ranks_all_actions: false,
            labels: &[],
            merge: &[],
            teacher: None,
            initial: None,
            seed: 1,
            observer: &Silent,
            checkpoints: None,
        }
    }

    /// The oracles of all examples.
    pub fn oracles(&self, kind: OracleKind) -> Vec<Box<dyn Oracle + '_>> {
        let oracle = |example: &Example| oracle(&self.system, &example.tree, kind).unwrap();
        self.examples.iter().map(oracle).collect()
    }
}

/// A sentence as a reading leaves it, which is at it now.
pub fn read(reading: &mut dyn Reading, sentence: &Sentence) -> Sentence {
    let mut sentence = sentence.clone();
    reading.read(&mut sentence);
    sentence
}

/// The best derivation that a search finds, with fresh memory.
pub fn decode(
    search: &Search,
    system: &dyn TransitionSystem,
    reading: &mut dyn Reading,
    sentence: &Sentence,
) -> Decoded {
    decode_nbest(search, system, reading, sentence, 1).swap_remove(0)
}

/// The best `n` derivations that a search finds, with fresh memory.
pub fn decode_nbest(
    search: &Search,
    system: &dyn TransitionSystem,
    reading: &mut dyn Reading,
    sentence: &Sentence,
    n: usize,
) -> Vec<Decoded> {
    let sentence = &read(reading, sentence);
    search.decode(Problem { system, sentence }, n, reading, &mut SearchScratch::default())
}
