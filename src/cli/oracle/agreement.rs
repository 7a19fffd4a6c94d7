//! `srparse oracle` with several models: on how many decisions each subset of them is right.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};

use super::{OracleArgs, chunks, note_trees, status};
use crate::cli::out::Out;
use crate::cli::tree_input::TreeInput;
use crate::eval::agreement::{Agreement, MOST_SYSTEMS};
use crate::eval::percent::percent;
use crate::eval::report::agreement::name;
use crate::inspect::decisions::{Decision, Followed};
use crate::model::Model;
use crate::parser::Parser;
use crate::tree::Tree;

/// Follows the derivations with all models and prints the counts.
///
/// # Errors
/// When a model or a tree cannot be read, or the models do not have the same derivations.
pub(super) fn run(args: &OracleArgs, paths: &[PathBuf], mut out: Out) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    args.treebank.profile.refuse_with_model()?;
    if args.margins.is_some() {
        bail!("--margins shows one model: give --model once");
    }
    if paths.len() > MOST_SYSTEMS {
        bail!("{} models: at most {MOST_SYSTEMS} can be compared", paths.len());
    }
    let parsers = open(args, paths)?;
    let mut input = TreeInput::open(&args.files, &args.treebank, &args.verbosity, None)?;
    let mut counts = Counts::new(parsers.len());
    chunks(&mut input, |trees| {
        counts.add(&parsers, &trees);
        Ok(())
    })?;
    note_trees(&input.trees, counts.trees + counts.unfit, args);
    drop(input.bar);
    counts.write(&mut out)?;
    out.finish()?;
    Ok(status(counts.unfit))
}

/// Opens the models, which must have the same derivation of every tree.
fn open(args: &OracleArgs, paths: &[PathBuf]) -> anyhow::Result<Vec<Parser>> {
    let models: Vec<Model> = paths.iter().map(Model::open).collect::<crate::Result<_>>()?;
    let of_system = |model: &Model| {
        let header = &model.header;
        (header.system.clone(), header.preset["system"].clone(), header.preset["clean"].clone())
    };
    let first = of_system(&models[0]);
    if let Some(other) = models.iter().position(|model| of_system(model) != first) {
        bail!(
            "{} and {} differ in their actions or in [system] or [clean] of their presets, so their decisions \
             cannot be compared: train both on the same trees with the same settings there",
            paths[0].display(),
            paths[other].display()
        );
    }
    let with_path = |(model, path): (&Model, &PathBuf)| {
        Parser::new(model, &args.set).with_context(|| path.display().to_string())
    };
    models.iter().zip(paths).map(with_path).collect()
}

/// Which models are right, among all actions and among the legal ones.
struct Counts {
    all: Agreement,
    legal: Agreement,
    trees: u64,
    unfit: u64,
}

impl Counts {
    fn new(n_models: usize) -> Self {
        let (all, legal) = (Agreement::new(n_models), Agreement::new(n_models));
        Self { all, legal, trees: 0, unfit: 0 }
    }

    fn add(&mut self, parsers: &[Parser], trees: &[Tree]) {
        let by_model: Vec<Vec<Followed>> =
            parsers.iter().map(|parser| parser.each_decision(trees.to_vec())).collect();
        for tree in 0..by_model[0].len() {
            let of_tree: Option<Vec<&Vec<Decision>>> =
                by_model.iter().map(|followed| followed[tree].as_ref()).collect();
            let Some(of_tree) = of_tree else {
                self.unfit += 1;
                continue;
            };
            self.trees += 1;
            for at in 0..of_tree[0].len() {
                self.all.add(of_tree.iter().map(|decisions| decisions[at].right));
                self.legal.add(of_tree.iter().map(|decisions| decisions[at].right_of_legal));
            }
        }
    }

    fn write(&self, out: &mut Out) -> anyhow::Result<()> {
        writeln!(out, "trees\t{}", self.trees)?;
        writeln!(out, "trees that cannot be built\t{}", self.unfit)?;
        writeln!(out, "decisions\t{}", self.all.number())?;
        writeln!(out, "right\tall actions\tshare\tlegal actions\tshare")?;
        let share = |count: u64, of: &Agreement| match of.number() {
            0 => "-".to_owned(),
            number => format!("{:.2} %", percent(count, number)),
        };
        for ((right, all), (_, legal)) in self.all.subsets().iter().zip(self.legal.subsets()) {
            let (of_all, of_legal) = (share(*all, &self.all), share(legal, &self.legal));
            writeln!(out, "{}\t{all}\t{of_all}\t{legal}\t{of_legal}", name(right))?;
        }
        Ok(())
    }
}
