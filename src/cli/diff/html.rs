//! The differences as a page.

use std::io::{self, Write};
use std::path::Path;

use askama::Template;
use serde::Serialize;

use super::{DiffArgs, Found, Sentence, SentenceParse, System, names};
use crate::cli::notes::grouped;
use crate::cli::page::{self, TreeData, charts};
use crate::eval::report::compare::p_value;
use crate::eval::significance::{Comparison, Settings, compare};
use crate::eval::{
    Confusion, Counts, ErrorClass, Evaluation, LENGTHS, LabelConfusion, ParseError, Totals,
};
use crate::sort::stable_sort_by_key;
use crate::tree::Tree;

/// How many labels the charts and the confusion matrices have.
const LABELS: usize = 14;

#[derive(Template)]
#[template(path = "diff.html")]
struct DiffPage<'a> {
    title: String,
    differences: Differences<'a>,
}

/// The differences without their page.
#[derive(Template)]
#[template(path = "differences.html")]
pub(in crate::cli) struct Differences<'a> {
    /// The gold trees and the trees of parsers, by name.
    files: Vec<(&'a str, String)>,
    systems: Vec<SystemTable>,
    comparison: Option<Verdict>,
    charts: Vec<Chart>,
}

/// The scores of a parser, its errors and its confusions.
struct SystemTable {
    name: &'static str,
    f1: String,
    sentences: String,
    exact: String,
    excluded: u64,
    classes: Vec<ClassRow>,
    labels: Vec<String>,
    confusions: Vec<ConfusionRow>,
    spurious: Vec<u64>,
}

struct ClassRow {
    number: usize,
    name: &'static str,
    errors: u64,
    missed: u64,
    spurious: u64,
    gain: String,
}

struct ConfusionRow {
    label: String,
    cells: Vec<Cell>,
    others: u64,
    missed: u64,
}

struct Cell {
    label: String,
    count: u64,
    is_right: bool,
    /// How dark the cell is, from 0 to 4.
    heat: u32,
}

/// The significance of the difference between two parsers.
struct Verdict {
    difference: String,
    p: String,
    interval: [String; 2],
    better: [String; 2],
    equal: String,
}

struct Chart {
    title: &'static str,
    group: &'static str,
    svg: String,
    /// For each group its name, and F1 and the number of `what` of each parser.
    rows: Vec<(String, Vec<(String, u64)>)>,
    what: &'static str,
}

/// Writes the page.
pub(super) fn write(args: &DiffArgs, found: &Found, out: &mut impl Write) -> anyhow::Result<()> {
    let paths = [&args.gold, &args.test].into_iter().chain(&args.test2);
    let shown: &[&str] =
        if found.systems.len() == 2 { &["gold", "A", "B"] } else { &["gold", "test"] };
    let tests: Vec<String> = paths.clone().skip(1).map(|path| file_name(path)).collect();
    let files = shown.iter().copied().zip(paths.map(|path| path.display().to_string()));
    let template = DiffPage {
        title: format!("{} against {}", tests.join(" and "), file_name(&args.gold)),
        differences: Differences::new(files.collect(), found)?,
    };
    page::begin(&template, out)?;
    write_data(found, out)?;
    Ok(out.write_all(page::END)?)
}

impl<'a> Differences<'a> {
    /// The differences of parses in named files.
    pub(in crate::cli) fn new(
        files: Vec<(&'a str, String)>,
        found: &Found,
    ) -> anyhow::Result<Self> {
        let Found { systems, brackets, .. } = found;
        let tables =
            names(systems.len()).iter().zip(systems).map(|(name, system)| table(name, system));
        let is_pair = systems.len() == 2;
        Ok(Self {
            files,
            systems: tables.collect(),
            comparison: is_pair.then(|| verdict(&compare(brackets, &Settings::default()))),
            charts: vec![by_length(systems)?, by_label(systems)?],
        })
    }
}

/// Writes the data of the page: what all sentences share, then the sentences.
pub(in crate::cli) fn write_data(found: &Found, out: &mut impl Write) -> io::Result<()> {
    let names = names(found.systems.len());
    page::write_line(&Head { names, classes: ErrorClass::ALL.map(ErrorClass::name) }, out)?;
    found.sentences.iter().try_for_each(|sentence| page::write_line(&row(sentence), out))
}

pub(in crate::cli) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The first line of the data; the sentences follow.
#[derive(Serialize)]
struct Head<'a> {
    names: &'a [&'a str],
    classes: [&'static str; ErrorClass::ALL.len()],
}

#[derive(Serialize)]
struct SentenceRow<'a> {
    n: u64,
    at: Option<String>,
    gold: TreeData<'a>,
    parses: Vec<ParseRow<'a>>,
}

#[derive(Serialize)]
struct ParseRow<'a> {
    f1: f64,
    tree: TreeData<'a>,
    /// The marks of the gold tree.
    gold: String,
    /// Class, missed and spurious nodes of each error.
    errors: Vec<(usize, Vec<u32>, Vec<u32>)>,
}

fn row(sentence: &Sentence) -> SentenceRow<'_> {
    let Sentence { number, at, gold, parses } = sentence;
    let data = TreeData::of(gold);
    let parses = parses.iter().map(|parse| parse_row(parse, gold, &data)).collect();
    SentenceRow { n: *number, at: at.as_ref().map(ToString::to_string), parses, gold: data }
}

fn parse_row<'a>(parse: &'a SentenceParse, gold: &Tree, gold_data: &TreeData<'a>) -> ParseRow<'a> {
    let SentenceParse { tree, f1, difference } = parse;
    let data = TreeData::of(tree).marked(tree, &difference.test).beside(gold_data);
    let error = |ParseError { class, missed, spurious }: &ParseError| {
        let missed = missed.iter().map(|&id| gold_data.number(id)).collect();
        (*class as usize, missed, spurious.iter().map(|&id| data.number(id)).collect())
    };
    let errors = difference.errors.iter().map(error).collect();
    let gold = gold_data.marks_of(gold, &difference.gold);
    ParseRow { f1: (f1 * 100.0).round() / 100.0, gold, errors, tree: data }
}

fn table(name: &'static str, System { evaluation, errors }: &System) -> SystemTable {
    let totals = &evaluation.all;
    let class = |(class, counts): (ErrorClass, &crate::eval::ClassCounts)| ClassRow {
        number: class as usize,
        name: class.name(),
        errors: counts.errors,
        missed: counts.missed,
        spurious: counts.spurious,
        gain: format!("{:+.2}", counts.f1_mended(totals) - totals.f1()),
    };
    let Confusion { labels, rows, spurious } = Confusion::new(evaluation, errors, LABELS);
    let row = |(at, LabelConfusion { by_label, others, missed }): (usize, LabelConfusion)| {
        let cells = labels.iter().zip(by_label).enumerate();
        let cell = |(test, (label, count)): (usize, (&String, u64))| {
            let is_right = test == at;
            Cell { label: label.clone(), count, is_right, heat: heat(count, is_right) }
        };
        ConfusionRow { label: labels[at].clone(), cells: cells.map(cell).collect(), others, missed }
    };
    SystemTable {
        name,
        f1: format!("{:.2}", totals.f1()),
        sentences: grouped(totals.sentences),
        exact: grouped(totals.complete),
        excluded: totals.errors + totals.skipped,
        classes: errors.by_brackets().into_iter().map(class).collect(),
        confusions: rows.into_iter().enumerate().map(row).collect(),
        labels,
        spurious,
    }
}

/// One step darker for each power of three from 3 on.
fn heat(count: u64, is_right: bool) -> u32 {
    if is_right || count < 3 { 0 } else { count.ilog(3).min(4) }
}

fn verdict(comparison: &Comparison) -> Verdict {
    Verdict {
        difference: format!("{:+.2}", comparison.difference().f1),
        p: p_value(comparison.p.f1),
        interval: comparison.f1_interval.map(|bound| format!("{bound:+.2}")),
        better: comparison.better.map(grouped),
        equal: grouped(comparison.equal()),
    }
}

fn by_length(systems: &[System]) -> anyhow::Result<Chart> {
    let groups = LENGTHS.iter().enumerate().map(|(at, (name, _))| {
        let of = |system: &System| {
            let Totals { sentences, .. } = system.evaluation.lengths[at];
            (system.evaluation.lengths[at].f1(), sentences)
        };
        ((*name).to_owned(), systems.iter().map(of).collect())
    });
    let groups = groups.filter(|(_, of): &Group| of.iter().any(|(_, sentences)| *sentences > 0));
    chart("F1 by length", ("words", "sentences"), groups.collect())
}

fn by_label(systems: &[System]) -> anyhow::Result<Chart> {
    let Some(first) = systems.first() else { anyhow::bail!("no parser") };
    let mut labels: Vec<_> = first.evaluation.labels.iter().collect();
    stable_sort_by_key(&mut labels, |(_, counts)| std::cmp::Reverse(counts.gold));
    let labels = labels.into_iter().filter(|(_, counts)| counts.gold > 0).take(LABELS);
    let groups = labels.map(|(label, _)| {
        let of = |evaluation: &Evaluation| {
            let counts: Counts = evaluation.labels.get(label).copied().unwrap_or_default();
            (counts.f1(), counts.gold)
        };
        (label.to_string(), systems.iter().map(|system| of(&system.evaluation)).collect())
    });
    chart("F1 by label", ("label", "gold brackets"), groups.collect())
}

/// A group of bars: its name, and F1 and a number of each parser.
type Group = (String, Vec<(f64, u64)>);

fn chart(
    title: &'static str,
    (group, what): (&'static str, &'static str),
    groups: Vec<Group>,
) -> anyhow::Result<Chart> {
    let labels: Vec<String> = groups.iter().map(|(name, _)| name.clone()).collect();
    let n = groups.first().map_or(0, |(_, of)| of.len());
    let series = names(n).iter().enumerate().take(n);
    let series: Vec<(&str, Vec<f64>)> =
        series.map(|(at, name)| (*name, groups.iter().map(|(_, of)| of[at].0).collect())).collect();
    let svg = charts::bars(&labels, &series, group)?;
    let cells =
        |of: Vec<(f64, u64)>| of.into_iter().map(|(f1, n)| (format!("{f1:.2}"), n)).collect();
    let rows = groups.into_iter().map(|(name, of)| (name, cells(of))).collect();
    Ok(Chart { title, group, svg, rows, what })
}
