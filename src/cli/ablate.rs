//! `srparse ablate`: what each group of feature templates is worth.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::chart::{self, Style};
use super::experiment::{Runs, write_text};
use super::options::{INPUT, ThreadsArg, Verbosity};
use super::out::{print, refuse_file_as_folder, refuse_folder_of_inputs};
use super::{listed, options};
use crate::eval::significance::{Comparison, Settings, compare, holm};
use crate::eval::{Counts, Evaluation, Params};
use crate::experiment::{Cell, Experiment, Folder, ParserEntry, SettingEntry, TreebankEntry};
use crate::feature::Templates;
use crate::preset::plan::Plan;
use crate::preset::{DEFAULT, MethodChoice};
use crate::treebank::{ReadOptions, Treebank};

/// Find out what each group of feature templates is worth.
///
/// The templates of a file are grouped by the comments above them. The parser is trained with all groups, and without
/// each; the development trees are parsed with gold tags, and the F1 that is lost without a group is
/// tested as by `srparse compare`, with Holm's correction for the number of groups (p_holm). All runs have one
/// seed: the tests say nothing about other seeds. The runs are those of `srparse experiment`: in parallel, and
/// resumed by the same command.
///
/// Writes ablation.tsv and ablation.svg to the output folder, and prints the table. Exit status: 0 on success; 1 if a
/// run failed; 2 on an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  srparse ablate -o ablation --train data/sample/train.mrg --dev data/sample/dev.mrg")]
pub struct AblateArgs {
    /// Training trees: files (may be .gz), folders, or quoted globs.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = INPUT)]
    train: Vec<PathBuf>,
    /// Development trees.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = INPUT)]
    dev: Vec<PathBuf>,
    /// Folder for the results.
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,
    /// A preset listed by `srparse info`, or a preset file.
    #[arg(value_parser = listed::presets(), hide_possible_values = true, long, value_name = "NAME|FILE", default_value = DEFAULT)]
    preset: String,
    /// Change a setting of the preset, such as learner.epochs=5; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The groups to leave out, one at a time: headings of the template file, or how they begin; all if omitted.
    #[arg(long, value_name = "HEADING,…", value_delimiter = ',')]
    groups: Vec<String>,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    profile: options::ProfileArg,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// Runs the command.
///
/// # Errors
/// When the preset or a group is unknown, the preset has fewer than two groups of templates, or the folder cannot be
/// written.
pub fn run(args: &AblateArgs) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    let groups = groups(args)?;
    let experiment = experiment(args, &groups);
    experiment.check()?;
    let cells = experiment.cells(Path::new(""));
    refuse_file_as_folder("--out", &args.out)?;
    refuse_folder_of_inputs("--out", &args.out, args.train.iter().chain(&args.dev))?;
    let folder = Folder::create(&args.out)?;
    let runs = Runs::new(&cells, &folder, args.verbosity.quiet);
    let status = runs.run(|_| true)?;
    let rows = rows(&runs, &folder, &groups)?;
    write_text(&folder.file("ablation.tsv"), &table(&rows))?;
    if !rows.is_empty() {
        let style = Style { points: true, ..Style::default() };
        let svg = chart::of_text("ablation", &points(&rows), &style)?;
        write_text(&folder.file("ablation.svg"), &svg)?;
    }
    print(&table(&rows))?;
    Ok(status)
}

/// A group of templates.
struct Group {
    /// Its number in the template file, from 1.
    number: usize,
    heading: String,
    templates: usize,
}

impl Group {
    /// The name of the setting without it. The number tells apart headings whose letters are the same.
    fn setting(&self) -> String {
        format!("without {} {}", self.number, self.heading)
    }
}

/// The groups that are left out.
fn groups(args: &AblateArgs) -> anyhow::Result<Vec<Group>> {
    let preset = args.profile.preset(&args.preset, &args.set)?;
    anyhow::ensure!(
        !matches!(preset.learner, MethodChoice::Neural(_)),
        "--preset {}: a network has no feature templates: name the preset of another learner",
        args.preset
    );
    let templates = Plan::new(preset)?.templates;
    anyhow::ensure!(
        templates.groups().first().is_some_and(|&(heading, _)| templates.can_leave_out(heading)),
        "--preset {}: the template file has fewer than two groups of templates: write a comment above each group",
        args.preset
    );
    chosen(&templates, &args.groups)
}

fn chosen(templates: &Templates, names: &[String]) -> anyhow::Result<Vec<Group>> {
    let numbered = (1..).zip(templates.groups());
    let group = |(number, (heading, templates)): (_, (&str, _))| Group {
        number,
        heading: heading.to_owned(),
        templates,
    };
    let mut groups: Vec<Group> = numbered.map(group).collect();
    if names.is_empty() {
        return Ok(groups);
    }
    let named = names.iter().map(|name| templates.group(name.trim()));
    let named = named
        .collect::<Result<Vec<&str>, _>>()
        .map_err(|problem| anyhow::anyhow!("--groups: {problem}"))?;
    groups.retain(|group| named.contains(&group.heading.as_str()));
    Ok(groups)
}

/// The experiment with all groups, and without each.
fn experiment(args: &AblateArgs, groups: &[Group]) -> Experiment {
    let without = |group: &Group| SettingEntry {
        name: group.setting(),
        set: vec![format!("features.without={}", serde_json::json!([group.heading]))],
    };
    let all = SettingEntry { name: "all".to_owned(), set: Vec::new() };
    // Only gold tags are used.
    let no_tagger = ["tagger.kind=none", "jackknife=0"].map(str::to_owned);
    let settings = args.set.iter().cloned().chain(no_tagger);
    let (cleaning, set) = settings.partition(|setting| setting.starts_with("clean."));
    Experiment {
        description: String::new(),
        percent: vec![100.0],
        seeds: vec![args.seed],
        parsers: vec![ParserEntry { preset: args.preset.clone(), set, ..ParserEntry::default() }],
        settings: std::iter::once(all).chain(groups.iter().map(without)).collect(),
        treebanks: vec![TreebankEntry {
            name: "dev".to_owned(),
            train: args.train.clone(),
            dev: args.dev.clone(),
            profile: args.profile.name().map(str::to_owned),
            set: cleaning,
            ..TreebankEntry::default()
        }],
    }
}

/// The worth of a group.
struct Row<'a> {
    group: &'a Group,
    /// The parser without the group (A), and with all (B).
    comparison: Comparison,
    /// The p-value of F1, corrected for the number of groups.
    p_holm: f64,
}

/// The rows of all finished runs, the most valuable group first.
fn rows<'a>(runs: &Runs<'_>, folder: &Folder, groups: &'a [Group]) -> anyhow::Result<Vec<Row<'a>>> {
    let cells: Vec<&Cell> = runs.finished().into_iter().map(|(cell, _)| cell).collect();
    let Some(all) = cells.iter().find(|cell| cell.setting == "all") else { return Ok(Vec::new()) };
    let all = brackets(all, folder)?;
    let mut rows = Vec::new();
    for group in groups {
        let setting = group.setting();
        let Some(cell) = cells.iter().find(|cell| cell.setting == setting) else { continue };
        let pairs = brackets(cell, folder)?.into_iter().zip(&all);
        let pairs: Vec<[Counts; 2]> = pairs.map(|(without, &all)| [without, all]).collect();
        rows.push(Row { group, comparison: compare(&pairs, &Settings::default()), p_holm: 1.0 });
    }
    let p: Vec<f64> = rows.iter().map(|row| row.comparison.p.f1).collect();
    for (row, p_holm) in rows.iter_mut().zip(holm(&p)) {
        row.p_holm = p_holm;
    }
    let worth = |row: &Row<'_>| row.comparison.difference().f1;
    rows.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
    Ok(rows)
}

/// The brackets of each development sentence.
fn brackets(cell: &Cell, folder: &Folder) -> anyhow::Result<Vec<Counts>> {
    let (parses, _) = Treebank::read(&[folder.parses(cell)], &ReadOptions::default())?;
    let mut evaluation = Evaluation::new(Params::default(), None);
    let gold = cell.gold()?;
    let pairs = gold.iter().zip(&parses.trees);
    Ok(pairs.map(|(gold, test)| Counts::of(&evaluation.add(gold, test))).collect())
}

fn table(rows: &[Row<'_>]) -> String {
    let mut text = "group\ttemplates\tf1_all\tf1_without\tworth\tlow\thigh\tp\tp_holm\n".to_owned();
    for Row { group: Group { heading, templates, .. }, comparison, p_holm } in rows {
        let Comparison { scores: [without, all], p, f1_interval: [low, high], .. } = comparison;
        let worth = comparison.difference().f1;
        text += &format!(
            "{heading}\t{templates}\t{:.2}\t{:.2}\t{worth:+.2}\t{low:+.2}\t{high:+.2}\t{:.4}\t{p_holm:.4}\n",
            all.f1, without.f1, p.f1
        );
    }
    text
}

/// The same as points of a chart, the most valuable group at the top.
fn points(rows: &[Row<'_>]) -> String {
    let mut text = "\tF1 lost without the group\trank\n".to_owned();
    for (rank, Row { group: Group { heading, .. }, comparison, p_holm }) in rows.iter().enumerate()
    {
        let series = if *p_holm < SIGNIFICANT { "Holm's p < 0.05" } else { "Holm's p ≥ 0.05" };
        let worth = comparison.difference().f1;
        text += &format!("{series}\t{worth:.4}\t{}\t{heading}\n", rows.len() - rank);
    }
    text
}

/// The level at which a chart calls differences significant.
const SIGNIFICANT: f64 = 0.05;
