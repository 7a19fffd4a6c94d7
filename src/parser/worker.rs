//! Parsing of tokens: cleaning, numbers, search, and the tree over all words of the input.

use std::borrow::Cow;

use crate::decode::beam::Agenda;
use crate::decode::constituents::constituent_scores;
use crate::decode::search::MAX_BEAM;
use crate::decode::{Decoded, Problem, Search, SearchScratch};
use crate::oracle::replay::same_brackets;
use crate::scorer::Reading;
use crate::symbols::{Sentence, Vocabulary};
use crate::transition::{Action, TransitionSystem};
use crate::tree::{Token, Tree};
use crate::treebank::{CleanedSentence, Cleaning, reattach};

/// A parse of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Parse {
    /// The tree over all words of the input, rooted in `TOP`, with head children where known.
    pub tree: Tree,
    /// The score of the derivation ([`crate::decode::PathScore`]), on the scale of the model.
    pub score: f64,
    /// Whether the derivation is complete; if not, the tree is a partial analysis.
    pub complete: bool,
    /// The confidence score of each node of the tree ([`crate::decode::constituents`]), if requested; infinity for the
    /// root and where there was no choice.
    pub constituents: Option<Vec<f32>>,
}

/// A request for n-best parses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NbestRequest {
    /// The maximum number of different trees; 1 to [`Self::MAX_TREES`].
    pub trees: usize,
    /// Whether to compute a score for each constituent.
    pub constituents: bool,
}

impl NbestRequest {
    /// The largest number of trees: as many as the widest beam has hypotheses.
    pub const MAX_TREES: usize = MAX_BEAM;
}

/// Parses sentences in one thread, with memory of its own. Tokens without tags get predicted ones, if the scorer predicts
/// tags.
pub struct Worker<'a> {
    cleaning: &'a Cleaning,
    vocabulary: &'a Vocabulary,
    system: &'a dyn TransitionSystem,
    reading: Box<dyn Reading + 'a>,
    search: &'a Search,
    sentence: Sentence,
    scratch: SearchScratch,
}

impl<'a> Worker<'a> {
    /// A worker with empty scratch memory.
    pub fn new(
        cleaning: &'a Cleaning,
        vocabulary: &'a Vocabulary,
        system: &'a dyn TransitionSystem,
        reading: Box<dyn Reading + 'a>,
        search: &'a Search,
    ) -> Self {
        let (sentence, scratch) = (Sentence::default(), SearchScratch::default());
        Self { cleaning, vocabulary, system, reading, search, sentence, scratch }
    }

    /// Cleans a sentence, and reads it.
    fn prepare<'t>(&mut self, tokens: &'t [Token]) -> Input<'t> {
        let cleaned = self.cleaning.apply_tokens(tokens);
        self.vocabulary.encode_into(&cleaned.tokens, &mut self.sentence);
        self.reading.read(&mut self.sentence);
        let mut input = Input { tokens: Cow::Borrowed(tokens), cleaned };
        if tokens.iter().any(|token| token.tag.is_empty()) {
            input.fill_tags(self.vocabulary, &self.sentence);
        }
        input
    }

    /// Searches for the best `n` derivations of a sentence; calls `observe` after every step of a beam.
    pub fn decode_observed<'t>(
        &mut self,
        tokens: &'t [Token],
        n: usize,
        observe: &mut dyn FnMut(&Agenda),
    ) -> (Input<'t>, Vec<Decoded>) {
        let input = self.prepare(tokens);
        (input, self.decode(n, observe))
    }

    /// Searches for the best `n` derivations of the sentence that was prepared last.
    fn decode(&mut self, n: usize, observe: &mut dyn FnMut(&Agenda)) -> Vec<Decoded> {
        let Self { system, reading, sentence, scratch, .. } = self;
        let problem = Problem { system: *system, sentence };
        self.search.decode_observed(problem, n, (&mut **reading, scratch), observe)
    }

    /// The sentence that was decoded last, with its reading.
    pub fn problem(&mut self) -> (Problem<'_>, &mut (dyn Reading + 'a)) {
        (Problem { system: self.system, sentence: &self.sentence }, &mut *self.reading)
    }

    /// Searches for `n` different trees, with their derivations: first that of a search for one, then the best of a
    /// wider search.
    fn different(&mut self, tokens: &[Token], n: usize) -> Vec<(Parse, Vec<Action>)> {
        let input = self.prepare(tokens);
        let best = self.decode(1, &mut |_| ()).swap_remove(0);
        let mut parses = vec![(self.finish(&best, &input), best.actions)];
        let mut n_derivations = n;
        while parses.len() < n && self.search.compares_paths() {
            let found = self.decode(n_derivations, &mut |_| ());
            let n_found = found.len();
            parses.truncate(1);
            for decoded in found {
                let parse = self.finish(&decoded, &input);
                let is_same = |other: &(Parse, _)| same_brackets(&other.0.tree, &parse.tree);
                if !parses.iter().any(is_same) {
                    parses.push((parse, decoded.actions));
                }
            }
            if n_found < n_derivations || n_derivations >= MAX_BEAM {
                break;
            }
            // Different derivations may build the same tree: more of them may build others.
            n_derivations *= 2;
        }
        parses.truncate(n);
        parses
    }

    /// Builds the tree over all tokens.
    fn finish(&self, decoded: &Decoded, input: &Input<'_>) -> Parse {
        let Input { tokens, cleaned } = input;
        let Decoded { state, forest, score, complete, .. } = decoded;
        let is_whole = cleaned.tokens.len() == tokens.len();
        let seen: &[Token] = if is_whole { tokens } else { &cleaned.tokens };
        let mut tree = self.system.tree(state, forest, seen);
        if !complete {
            join_parts(&mut tree, &self.search.failure_label);
        }
        if !is_whole {
            tree = reattach(&tree, &cleaned.positions, tokens);
        }
        Parse { tree, score: *score, complete: *complete, constituents: None }
    }
}

/// A sentence to parse.
pub struct Input<'t> {
    /// All tokens, with predicted tags where there were none.
    tokens: Cow<'t, [Token]>,
    /// Those that the parser sees, with the same tags.
    pub cleaned: CleanedSentence,
}

impl Input<'_> {
    /// Gives tokens without tags those of the encoded sentence that are known.
    fn fill_tags(&mut self, vocabulary: &Vocabulary, sentence: &Sentence) {
        let Self { tokens, cleaned } = self;
        let places = cleaned.positions.iter().zip(&mut cleaned.tokens);
        for ((&position, token), &tag) in places.zip(&sentence.tags) {
            if let Some(tag) = vocabulary.tags().of_value(tag).filter(|_| token.tag.is_empty()) {
                token.tag = tag.into();
                tokens.to_mut()[position as usize].tag = tag.into();
            }
        }
    }
}

/// Joins the children of the root, if there are several, under a new node; an empty label leaves them.
fn join_parts(tree: &mut Tree, label: &str) {
    let n_parts = tree.root().map_or(0, |root| tree.children(root).len());
    if n_parts > 1 && !label.is_empty() {
        tree.insert_below_root(label);
    }
}

impl Worker<'_> {
    /// Parses a sentence. The tree has the same words and tags in the same order.
    pub fn parse(&mut self, tokens: &[Token]) -> Parse {
        let (input, decoded) = self.decode_observed(tokens, 1, &mut |_| ());
        self.finish(&decoded[0], &input)
    }

    /// Gives tokens without tags predicted ones, if the scorer predicts tags.
    pub fn tag(&mut self, tokens: &mut [Token]) {
        if let Cow::Owned(tagged) = self.prepare(tokens).tokens {
            tokens.clone_from_slice(&tagged);
        }
    }

    /// Returns different trees of a sentence: the parse, then the best others, best first. At least one, and as many
    /// as requested if the search finds so many. Greedy search finds one.
    pub fn parse_nbest(&mut self, tokens: &[Token], request: NbestRequest) -> Vec<Parse> {
        let mut parses = self.different(tokens, request.trees);
        if request.constituents {
            let temperature = self.search.temperature;
            for (parse, actions) in &mut parses {
                let (problem, reading) = self.problem();
                let mut scores = constituent_scores(problem, actions, reading, temperature);
                // Also for the root, and for the node that joins the children of a failed parse.
                scores.resize(parse.tree.nodes().len(), f32::INFINITY);
                parse.constituents = Some(scores);
            }
        }
        parses.into_iter().map(|(parse, _)| parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::ScoreScale;
    use crate::decode::Illegal;
    use crate::scorer::{Configuration, Memory};
    use crate::transition::binary::Binary;
    use crate::tree::TreeBuilder;
    use crate::treebank::penn;

    /// Prefers the first action of the inventory, SHIFT, or the last one, FINISH, in every state.
    struct Stubborn {
        wants_last: bool,
    }

    impl Reading for Stubborn {
        fn score(
            &mut self,
            _at: Configuration<'_>,
            _memory: &Memory,
            actions: &[Action],
            out: &mut Vec<f32>,
        ) {
            out.clear();
            out.resize(actions.len(), 0.0);
            let wanted = if self.wants_last { out.last_mut() } else { out.first_mut() };
            if let Some(score) = wanted {
                *score = 1.0;
            }
        }

        fn scale(&self) -> ScoreScale {
            ScoreScale::Margin
        }
    }

    fn failed(words: &str, wants_last: bool, label: &str, cleaning: &Cleaning) -> String {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        builder.open("NP");
        builder.token("a", "NN");
        builder.token("b", "NN");
        builder.close();
        builder.close();
        let tree = builder.finish();
        let vocabulary = Vocabulary::of([tree.tokens()], 1);
        let system = Binary::of_trees([&tree]).unwrap();
        let illegal = Illegal::Fail;
        let search = Search { illegal, failure_label: label.into(), ..Search::default() };
        let tokens: Vec<Token> = words
            .split(' ')
            .map(|word| Token::new(word, if word == "``" { word } else { "NN" }))
            .collect();
        let reading = Box::new(Stubborn { wants_last });
        let parse = Worker::new(cleaning, &vocabulary, &system, reading, &search).parse(&tokens);
        assert!(!parse.complete);
        assert_eq!(parse.tree.tokens(), tokens);
        let mut line = Vec::new();
        penn::write_line(&parse.tree, &mut line).unwrap();
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }

    #[test]
    fn a_failed_parse_is_flat_or_under_one_node_of_any_label() {
        let plain = &Cleaning::none();
        // SHIFT on an empty buffer; FINISH in the initial configuration.
        for wants_last in [false, true] {
            let flat = "(TOP (NN a) (NN b) (NN c))";
            assert_eq!(failed("a b c", wants_last, "", plain), flat);
            let joined = "(TOP (fail (NN a) (NN b) (NN c)))";
            assert_eq!(failed("a b c", wants_last, "fail", plain), joined);
            assert_eq!(failed("a", wants_last, "fail", plain), "(TOP (NN a))");
        }
    }

    #[test]
    fn tokens_removed_by_cleaning_are_restored() {
        let cleaning = Cleaning { quotes: true, ..Cleaning::none() };
        let tree = failed("a `` B", false, "IP", &cleaning);
        assert_eq!(tree, "(TOP (IP (NN a) (`` ``) (NN B)))");
        let cleaning = Cleaning { lowercase: true, ..cleaning };
        assert_eq!(failed("A B", false, "IP", &cleaning), "(TOP (IP (NN A) (NN B)))");
    }
}
