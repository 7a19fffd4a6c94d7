//! `srparse chart`: draws a table of points as an SVG chart.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use plotters::coord::combinators::BindKeyPoints;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::options::note_terminal;
use super::out::OutArg;
use crate::text_file;

/// Draw a table of points as an SVG chart.
///
/// Each line of the table is one point: the name of its series, x, y and, optionally, a label, separated by
/// tabs. The first line is a header; its second and third fields name the axes. The points of a series are
/// connected in the order of the table, unless --points is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  srparse chart --log-x --points docs/data/speed-accuracy.tsv > chart.svg")]
pub struct ChartArgs {
    /// File with the table; standard input if omitted.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    style: Style,
    #[command(flatten)]
    out: OutArg,
}

/// How a chart is drawn.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Style {
    /// Title above the chart.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(super) title: String,
    /// Use a logarithmic x axis; all x must be greater than 0.
    #[arg(long)]
    pub(super) log_x: bool,
    /// Do not connect the points.
    #[arg(long)]
    pub(super) points: bool,
}

/// A point and its label.
type Point = (f64, f64, String);

/// A table of points.
#[derive(Debug, Default)]
struct Table {
    x: String,
    y: String,
    /// The points of each series, numbered in order of appearance.
    series: Vec<(String, Vec<Point>)>,
}

/// Runs the command.
///
/// # Errors
/// When the table is malformed or the output cannot be written.
pub fn run(args: &ChartArgs) -> anyhow::Result<ExitCode> {
    let mut out = args.out.open(&args.file)?;
    let (name, text) = match &args.file {
        Some(path) => {
            let name = path.display().to_string();
            (name, text_file::read(path)?)
        }
        None => {
            note_terminal();
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).context("standard input")?;
            ("standard input".to_owned(), text)
        }
    };
    let text = text.trim_start_matches('\u{feff}');
    out.write_all(of_text(&name, text, &args.style)?.as_bytes())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Width and height of a chart without its legend, in pixels.
const PLOT: (u32, u32) = (720, 440);
/// The maximum width of a legend, in pixels: the rest of a longer name is cut off.
const MAX_LEGEND: u32 = 600;
/// Width of a character of the legend, in pixels.
const CHARACTER: u32 = 6;
/// Width of the mark of a series and of the space around its name, in pixels.
const MARK: u32 = 26;
/// Height of a line of the legend, in pixels.
const LINE: u32 = 16;
/// Space between the top of a chart and its legend, in pixels.
const ABOVE_LEGEND: u32 = 40;

/// Returns width and height of the legend, which stands to the right of the points, in pixels: 0 for a series alone.
fn legend_size(table: &Table) -> (u32, u32) {
    if table.series.len() < 2 {
        return (0, 0);
    }
    let longest = table.series.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let width = (longest as u32).saturating_mul(CHARACTER).saturating_add(MARK).min(MAX_LEGEND);
    (width, ABOVE_LEGEND + LINE * table.series.len() as u32)
}

fn svg(table: &Table, style: &Style) -> anyhow::Result<String> {
    let mut svg = String::new();
    let legend = legend_size(table);
    let size = (PLOT.0 + legend.0, PLOT.1.max(legend.1));
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    draw(&area, table, style).map_err(|error| anyhow!("the chart cannot be drawn: {error}"))?;
    drop(area);
    Ok(svg)
}

/// Draws the table of a file, without a title.
///
/// # Errors
/// When it cannot be read, or is malformed.
pub(super) fn of_file(path: &Path) -> anyhow::Result<String> {
    of_text(&path.display().to_string(), &text_file::read(path)?, &Style::default())
}

/// Draws a table by the options of the command; messages call it `name`.
///
/// # Errors
/// When it is malformed.
pub(super) fn of_text(name: &str, text: &str, style: &Style) -> anyhow::Result<String> {
    let table =
        parse(text, style.log_x).map_err(|(line, problem)| anyhow!("{name}:{line}: {problem}"))?;
    svg(&table, style)
}

/// Larger numbers leave no room for the arithmetic of drawing.
const LARGEST: f64 = 1e300;
const FORM: &str = "write a header line, then lines with series, x and y, separated by tabs";

/// Reads a table; an error comes with its line number.
fn parse(text: &str, log_x: bool) -> Result<Table, (usize, String)> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (_, names) = lines.next().ok_or((1, format!("the table is empty: {FORM}")))?;
    let mut names = names.split('\t').skip(1).map(str::to_owned);
    let mut table = Table {
        x: names.next().unwrap_or_default(),
        y: names.next().unwrap_or_default(),
        series: Vec::new(),
    };
    let mut places = BTreeMap::new();
    for (number, line) in lines {
        let mut values = line.split('\t');
        let series = values.next().unwrap_or_default().to_owned();
        let mut value = |what: &str| {
            let text = values.next().ok_or_else(|| {
                (number, format!("{what} is missing: separate the fields by tabs"))
            })?;
            let value = text.trim().parse::<f64>().ok().filter(|value| value.abs() <= LARGEST);
            let problem = || {
                format!("{what} is `{text}`: it must be a number from -{LARGEST:e} to {LARGEST:e}")
            };
            value.ok_or_else(|| (number, problem()))
        };
        let (x, y) = (value("x")?, value("y")?);
        if log_x && x < 1.0 / LARGEST {
            return Err((
                number,
                format!("x is {x}: it must be greater than 0 on a logarithmic axis"),
            ));
        }
        let label = values.next().unwrap_or_default().to_owned();
        let next = places.len();
        let place = *places.entry(series.clone()).or_insert(next);
        if place == table.series.len() {
            table.series.push((series, Vec::new()));
        }
        table.series[place].1.push((x, y, label));
    }
    if table.series.is_empty() {
        return Err((2, format!("the table has no points: {FORM}")));
    }
    Ok(table)
}

/// Returns the range of the values with some room at both ends.
fn span(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let room = if high > low { (high - low) * 0.08 } else { 1.0 };
    low - room..high + room
}

/// The number of powers of ten at a logarithmic axis up to which their multiples have ticks too.
const FEW_POWERS: i32 = 4;
/// The maximum number of powers of ten that have ticks.
const MAX_POWERS: i32 = 12;

/// Returns the ticks of a logarithmic axis: 1, 2 and 5 times the powers of ten, on a long axis some of the powers
/// alone or, if it is too short, its ends.
fn ticks(x: &Range<f64>) -> Vec<f64> {
    let (first, last) = (x.start.log10().floor() as i32, x.end.log10().ceil() as i32);
    let multiples = if last - first > FEW_POWERS { &[1.0][..] } else { &[1.0, 2.0, 5.0] };
    let step = 1 + (last - first) / MAX_POWERS;
    let powers = (first..=last).filter(|power| power.rem_euclid(step) == 0);
    let marks = powers.flat_map(|power| multiples.iter().map(move |mark| mark * 10f64.powi(power)));
    let marks: Vec<f64> = marks.filter(|mark| x.contains(mark)).collect();
    if marks.len() > 1 { marks } else { vec![x.start, x.end] }
}

/// Formats a number at an axis of a length, which is 0 if it is logarithmic, with no more digits than it needs.
fn number(value: f64, length: f64) -> String {
    // Ticks are sums, so that at 0 there may be a rounding error.
    let value = if value.abs() < 1e-9 * length { 0.0 } else { value };
    if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) {
        return format!("{value:.2e}").replace(".00e", "e");
    }
    // Adding 0 makes 0 of -0.
    ((value * 1e6).round() / 1e6 + 0.0).to_string()
}

/// Returns a text without control characters, which SVG may not have.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Colours that are distinguishable with any colour vision (Okabe and Ito 2008), with grey in place of yellow.
pub(super) const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(0x99, 0x99, 0x99),
];

/// Space around a chart, in pixels.
const MARGIN: u32 = 12;

type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(area: &Area<'_>, table: &Table, style: &Style) -> Drawn {
    area.fill(&WHITE)?;
    let place = |&(x, y, _): &Point| (if style.log_x { x.ln() } else { x }, y);
    let places: Vec<_> = table.series.iter().flat_map(|(_, points)| points).map(place).collect();
    let x = span(places.iter().map(|place| place.0));
    let y = span(places.iter().map(|place| place.1));
    if style.log_x {
        let x = x.start.exp().max(f64::MIN_POSITIVE)..x.end.exp().min(f64::MAX);
        let ticks = ticks(&x);
        draw_on(area, table, style, (x.log_scale().with_key_points(ticks), 0.0, y))
    } else {
        let length = x.end - x.start;
        draw_on(area, table, style, (x, length, y))
    }
}

fn draw_on<X>(
    area: &Area<'_>,
    table: &Table,
    style: &Style,
    (x, x_length, y): (X, f64, Range<f64>),
) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let y_length = y.end - y.start;
    let mut chart = ChartBuilder::on(area)
        .caption(printable(&style.title), ("sans-serif", 16))
        .margin(MARGIN)
        .margin_right(MARGIN + legend_size(table).0)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d(x, y)?;
    let mut mesh = chart.configure_mesh();
    let (at_x, at_y) = (|x: &f64| number(*x, x_length), |y: &f64| number(*y, y_length));
    mesh.light_line_style(WHITE).x_label_formatter(&at_x).y_label_formatter(&at_y);
    mesh.x_desc(printable(&table.x)).y_desc(printable(&table.y)).draw()?;
    for (at, (_, points)) in table.series.iter().enumerate() {
        let color = &COLORS[at % COLORS.len()];
        let places = || points.iter().map(|&(x, y, _)| (x, y));
        if !style.points {
            chart.draw_series(LineSeries::new(places(), color.stroke_width(2)))?;
        }
        chart.draw_series(places().map(|place| mark(at, place)))?;
        let labels = points.iter().filter(|point| !point.2.is_empty());
        chart.draw_series(labels.map(|(x, y, label)| {
            EmptyElement::at((*x, *y)) + Text::new(printable(label), (6, -12), ("sans-serif", 12))
        }))?;
    }
    draw_legend(area, table)?;
    area.present()?;
    Ok(())
}

/// Returns the mark of a series at a place: a colour that is used again has triangles in place of circles.
fn mark<'a, P: Clone + 'static>(series: usize, place: P) -> DynElement<'static, SVGBackend<'a>, P> {
    let filled = COLORS[series % COLORS.len()].filled();
    if series < COLORS.len() {
        Circle::new(place, 3, filled).into_dyn()
    } else {
        TriangleMarker::new(place, 5, filled).into_dyn()
    }
}

/// Draws the names of the series to the right of the points.
fn draw_legend(area: &Area<'_>, table: &Table) -> Drawn {
    if table.series.len() < 2 {
        return Ok(());
    }
    let x = PLOT.0 as i32 + 4;
    for (at, (name, _)) in table.series.iter().enumerate() {
        let y = (ABOVE_LEGEND + LINE * at as u32) as i32;
        area.draw(&mark(at, (x, y)))?;
        area.draw(&Text::new(printable(name), (x + 10, y - 6), ("sans-serif", 12)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(text: &str, log_x: bool) -> String {
        let args = Style { title: "A <title>".into(), log_x, points: false };
        of_text("table", text, &args).unwrap()
    }

    #[test]
    fn every_series_axis_and_label_is_in_the_picture() {
        let text =
            "parser\tsentences/s\tF1\na & b\t10\t80\tslow\nother\t5000\t70\na & b\t100\t75.5\n";
        for log_x in [false, true] {
            let svg = svg(text, log_x);
            for part in ["sentences/s", "F1", "A &lt;title&gt;", "a &amp; b", "other", "slow"] {
                assert!(svg.contains(part), "{part} is missing in\n{svg}");
            }
            // Three points, and one for each series beside its name.
            assert_eq!(svg.matches("<circle").count(), 5);
        }
        // One point alone has room around it.
        assert!(svg("s\tx\ty\na\t1\t1\n", false).contains("<circle"));
    }

    #[test]
    fn series_beyond_the_colours_have_triangles() {
        let mut text = "parser\tx\ty\n".to_owned();
        for series in 0..=COLORS.len() {
            text += &format!("{series}\t{series}\t1\n");
        }
        let svg = svg(&text, false);
        // A point and its copy in the legend.
        assert_eq!(svg.matches("<circle").count(), 2 * COLORS.len());
        assert_eq!(svg.matches("<polygon").count(), 2);
    }

    #[test]
    fn logarithmic_axes_are_marked_without_crowding() {
        assert_eq!(ticks(&(150.0..12_000.0)), [200.0, 500.0, 1000.0, 2000.0, 5000.0, 10_000.0]);
        let written = [-1e-17, 0.1 + 0.2, 86.0].map(|value| number(value, 100.0));
        assert_eq!(written, ["0", "0.3", "86"]);
        assert_eq!(number(1e-17, 0.0), "1e-17");
        assert_eq!(ticks(&(310.2..390.7)), [310.2, 390.7]);
        let svg = svg("s\tx\ty\na\t150\t80\na\t12000\t70.5\n", true);
        for (mark, there) in [("\n2000\n", true), ("\n4000\n", false), ("\n2000.0\n", false)] {
            assert_eq!(svg.contains(mark), there, "{mark} in\n{svg}");
        }
    }

    #[test]
    fn the_legend_stands_beside_the_points() {
        let width = |text: &str| {
            let svg = svg(text, false);
            let width = svg.strip_prefix("<svg width=\"").unwrap().split_once('"').unwrap().0;
            width.parse::<u32>().unwrap()
        };
        assert_eq!(width("s\tx\ty\na\t1\t1\n"), PLOT.0);
        let short = width("s\tx\ty\na\t1\t1\nb\t1\t1\n");
        assert!(short > PLOT.0);
        assert!(width("s\tx\ty\na\t1\t1\na longer name\t1\t1\n") > short);
        let endless = format!("s\tx\ty\na\t1\t1\n{}\t1\t1\n", "name".repeat(10_000));
        assert_eq!(width(&endless), PLOT.0 + MAX_LEGEND);
        // Two points, and beside them the marks of their series.
        let svg = svg("s\tx\ty\na\t1\t1\nb\t2\t2\n", false);
        let x = |mark: &str| mark.split_once('"').unwrap().0.parse::<u32>().unwrap();
        let marks: Vec<u32> = svg.split("<circle cx=\"").skip(1).map(x).collect();
        assert_eq!(marks.iter().filter(|&&x| x > PLOT.0).count(), 2, "{marks:?}");
        assert_eq!(marks.iter().filter(|&&x| x < PLOT.0).count(), 2, "{marks:?}");
    }

    #[test]
    fn malformed_lines_are_reported_with_their_number() {
        let problem = |text, log_x| parse(text, log_x).unwrap_err();
        assert_eq!(problem("", false).0, 1);
        assert_eq!(problem("s\tx\ty\n", false).0, 2);
        let (line, text) = problem("s\tx\ty\n\na\t1\tmuch\n", false);
        assert!(line == 3 && text.contains("`much`"), "{line} {text}");
        assert!(problem("s\tx\ty\na\t1\n", false).1.contains("tabs"));
        assert!(problem("s\tx\ty\na\tNaN\t1\n", false).1.contains("NaN"));
        assert!(problem("s\tx\ty\na\t1\t-1e305\n", false).1.contains("1e300"));
        for table in ["s\tx\ty\na\t0\t1\n", "s\tx\ty\na\t1e-320\t1\n"] {
            assert!(problem(table, true).1.contains("logarithmic"));
        }
    }
}
