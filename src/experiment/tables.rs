//! The results of an experiment as tables with tabs.

use std::fmt::Display;

use super::cell::Cell;
use super::folder::{Costs, Outcome, Scores, TagScores};

/// A finished cell.
pub type Finished<'a> = (&'a Cell, Outcome);

/// The columns that name a cell.
const AXES: [&str; 5] = ["parser", "setting", "treebank", "percent", "seed"];

/// The scores: the same bytes whenever the cells are run.
pub fn scores(finished: &[Finished<'_>]) -> String {
    let columns =
        ["trees", "f1", "exact", "complete", "own_tagging", "own_f1", "own_exact", "own_complete"];
    table(&columns, finished, |Outcome { scores, .. }| {
        let Scores { trees, gold_tags, own_tags } = scores;
        let TagScores { f1, exact, complete, .. } = gold_tags;
        let own = |value: fn(&TagScores) -> f64| own_tags.as_ref().map(value);
        let scores = [
            Some(*f1),
            Some(*exact),
            Some(*complete),
            own(|own| own.tagging),
            own(|own| own.f1),
            own(|own| own.exact),
            own(|own| own.complete),
        ];
        [vec![trees.to_string()], scores.map(|score| rounded(score, 2)).to_vec()].concat()
    })
}

/// The costs of the cells.
pub fn costs(finished: &[Finished<'_>]) -> String {
    let columns = ["train_cpu_s", "train_s", "memory_mb", "sentences_s"];
    table(&columns, finished, |Outcome { costs, .. }| {
        let Costs { train_cpu_s, train_s, memory_mb, sentences_s } = costs;
        let costs = [*train_cpu_s, *train_s, *memory_mb, Some(*sentences_s)];
        costs.map(|cost| rounded(cost, 1)).to_vec()
    })
}

/// F1 with gold tags by the number of training trees, as a table for `srparse chart`; `None` if no series has
/// two points.
pub fn learning_curve(finished: &[Finished<'_>]) -> Option<String> {
    let axes: [fn(&Cell) -> String; 4] = [
        |cell| cell.parser.clone(),
        |cell| cell.setting.clone(),
        |cell| cell.treebank.name.clone(),
        |cell| format!("seed {}", cell.seed),
    ];
    let (first, _) = finished.first()?;
    let varies =
        |axis: &fn(&Cell) -> String| finished.iter().any(|(cell, _)| axis(cell) != axis(first));
    let mut varying: Vec<_> = axes.into_iter().filter(varies).collect();
    if varying.is_empty() {
        varying.push(axes[0]);
    }
    let series = |cell: &Cell| -> String {
        let names: Vec<String> = varying.iter().map(|axis| axis(cell)).collect();
        names.join(", ")
    };
    let mut names: Vec<String> = finished.iter().map(|(cell, _)| series(cell)).collect();
    let mut rows = "parser\ttraining trees\tF1\n".to_owned();
    for ((_, Outcome { scores, .. }), name) in finished.iter().zip(&names) {
        rows += &format!("{name}\t{}\t{:.2}\n", scores.trees, scores.gold_tags.f1);
    }
    names.sort();
    names.windows(2).any(|pair| pair[0] == pair[1]).then_some(rows)
}

fn table(
    columns: &[&str],
    finished: &[Finished<'_>],
    values: impl Fn(&Outcome) -> Vec<String>,
) -> String {
    let mut text = [&AXES, columns].concat().join("\t") + "\n";
    for (cell, outcome) in finished {
        let Cell { parser, setting, treebank, percent, seed, .. } = cell;
        let axes: [&dyn Display; 5] = [parser, setting, &treebank.name, percent, seed];
        let axes = axes.map(ToString::to_string).to_vec();
        text += &([axes, values(outcome)].concat().join("\t") + "\n");
    }
    text
}

/// A number, or nothing.
fn rounded(value: Option<f64>, digits: usize) -> String {
    value.map(|value| format!("{value:.digits$}")).unwrap_or_default()
}
