//! Ensembles of networks: trained at once, apart, or in part.

use srparse::{Model, Parser, Preset, Token, Trainer, Treebank};

use crate::common::observer::Log;

const SMALL: &[&str] = &[
    "learner.epochs=2",
    "learner.network={ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = { word_dim = 8, \
     ngram_dim = 4, ngram_rows = 16, lstm_dim = 8 } }",
];
const STACK_LSTM: &[&str] = &["learner.epochs=1", "network.lstm_dim=8", "network.input_dim=8"];

/// A trainer of so many small networks.
fn trainer<'a>(preset: &str, settings: &[&str], models: u32) -> Trainer<'a> {
    let mut settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    settings.push(format!("learner.models={models}"));
    Trainer::with_preset(Preset::load(preset, &settings).unwrap()).unwrap()
}

fn train(trainer: &Trainer<'_>) -> srparse::Result<Model> {
    trainer.train(&crate::tiny::treebank(), &Treebank::default())
}

fn alone(seed: u64) -> Model {
    train(&trainer("accurate", SMALL, 1).seed(seed)).unwrap()
}

fn tree(model: &Model, words: &str) -> String {
    let tokens: Vec<Token> = words.split(' ').map(Token::untagged).collect();
    let parse = Parser::new(model, &[]).unwrap().parse(&tokens).unwrap();
    assert!(parse.score.is_finite() && parse.score <= 0.0, "{}", parse.score);
    parse.tree.to_string()
}

#[test]
fn networks_that_are_trained_apart_merge_into_the_ensemble_that_is_trained_at_once() {
    let whole = train(&trainer("accurate", SMALL, 3).seed(5)).unwrap();
    let apart = vec![alone(7), alone(5)];
    let merged = train(&trainer("accurate", SMALL, 3).seed(5).merge(apart)).unwrap();
    assert!(merged.to_bytes() == whole.to_bytes());
    let is_there = |number: &u32| !whole.sections.part(&format!("network-{number}")).0.is_empty();
    assert_eq!((1..=4).filter(is_there).count(), 3);
}

#[test]
fn networks_of_pretrained_merge_into_best() {
    let folder = crate::tiny::encoders().join("bert");
    let network = format!(
        "learner.network={{ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = {{ kind = \"transformer\", \
         path = \"{}\", layers = 1 }} }}",
        folder.display()
    );
    let settings = ["learner.epochs=1", &network];
    let apart = (1..=3).map(|seed| train(&trainer("pretrained", &settings, 1).seed(seed)).unwrap());
    let merged = train(&trainer("best", &settings, 3).merge(apart.collect())).unwrap();
    assert!(merged.to_bytes() == train(&trainer("best", &settings, 3)).unwrap().to_bytes());
    tree(&merged, "the dog sees an aardvark .");
}

#[test]
fn networks_that_do_not_belong_together_are_refused() {
    let merge = |models, seed: u64, part: Model| {
        let trainer = trainer("accurate", SMALL, models).seed(seed).merge(vec![part]);
        train(&trainer).unwrap_err().to_string()
    };
    let error = merge(3, 5, alone(8));
    assert!(error.contains("merge") && error.contains("different seed"), "{error}");
    let twice = trainer("accurate", SMALL, 3).seed(5).merge(vec![alone(6), alone(6)]);
    let error = train(&twice).unwrap_err().to_string();
    assert!(error.contains("model 2 has the seed of another one"), "{error}");
    let error = merge(3, 5, train(&trainer("accurate", SMALL, 2).seed(5)).unwrap());
    assert!(error.contains("model 1 has 2 networks, and each model must have one"), "{error}");
    let error = merge(1, 5, alone(5));
    assert!(error.contains("merge") && error.contains("learner.models"), "{error}");
    let first = alone(1);
    let settings = [SMALL, &["learner.models=2"]].concat().into_iter().map(str::to_owned);
    let preset = Preset::load("accurate", &settings.collect::<Vec<_>>()).unwrap();
    let continuing = Trainer::continuing(first, preset).unwrap().seed(5).merge(vec![alone(6)]);
    let error = train(&continuing).unwrap_err().to_string();
    assert!(error.contains("different initial model (--init)"), "{error}");
    let mut other = alone(6);
    other.header.preset["learner"]["dropout"] = 0.5.into();
    let error = merge(3, 5, other);
    assert!(error.contains("different preset"), "{error}");
}

#[test]
fn an_ensemble_of_any_network_parses_words_alone_or_with_tags() {
    for (preset, settings) in [("accurate", SMALL), ("dyer-2016", STACK_LSTM)] {
        let model = train(&trainer(preset, settings, 2)).unwrap();
        for setting in ["search.method=greedy", "search={ method = \"beam\", beam = 3 }"] {
            let parser = Parser::new(&model, &[setting.to_owned()]).unwrap();
            let tagged = ["the/DT", "dog/NN", "barks/VBZ"].map(|word| {
                let (word, tag) = word.split_once('/').unwrap();
                Token::new(word, tag)
            });
            let parse = parser.parse(&tagged).unwrap();
            assert_eq!(parse.tree.tokens(), tagged);
        }
        tree(&model, "the dog sees an aardvark .");
    }
}

#[test]
fn training_that_is_stopped_gives_the_networks_that_there_are() {
    let log = Log::stopping_at(3 * 8);
    let stopped = train(&trainer("accurate", SMALL, 3).observe(&log)).unwrap();
    let whole = train(&trainer("accurate", SMALL, 3)).unwrap();
    assert!(stopped.to_bytes().len() < whole.to_bytes().len());
    tree(&stopped, "it sees a red cat");
}
