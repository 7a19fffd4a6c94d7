//! `srparse chart`: measured points as a picture.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// Draw measured points as an SVG picture.
///
/// The table has one point a line, its values separated by tabs: the series, x, y, and, if wanted, a label
/// for the point. The first line names them: the second and third name stand at the axes. Points of a series
/// are joined in the order of the table, unless --points.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse chart --log-x --points docs/speed-accuracy.tsv > curve.svg")]
pub struct ChartArgs {
    /// The table; standard input if none.
    file: Option<PathBuf>,
    /// What stands above the picture.
    #[arg(long, value_name = "TEXT", default_value = "")]
    title: String,
    /// A logarithmic scale for x, which then must be above 0.
    #[arg(long)]
    log_x: bool,
    /// Do not join the points.
    #[arg(long)]
    points: bool,
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
/// When the table does not read, or nothing can be written.
pub fn run(args: &ChartArgs) -> anyhow::Result<ExitCode> {
    let (name, text) = match &args.file {
        Some(path) => {
            let name = path.display().to_string();
            (name.clone(), std::fs::read_to_string(path).context(name)?)
        }
        None => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).context("standard input")?;
            ("standard input".to_owned(), text)
        }
    };
    let table =
        parse(&text, args.log_x).map_err(|(line, problem)| anyhow!("{name}:{line}: {problem}"))?;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (720, 440)).into_drawing_area();
        draw(&area, &table, args)
            .map_err(|error| anyhow!("the picture cannot be drawn: {error}"))?;
    }
    io::stdout().lock().write_all(svg.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a table; the error has the number of the line.
fn parse(text: &str, log_x: bool) -> Result<Table, (usize, String)> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (_, names) = lines.next().ok_or((1, "the table is empty".to_owned()))?;
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
            let text = values
                .next()
                .ok_or_else(|| (number, format!("{what} is missing: separate values by tabs")))?;
            let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| (number, format!("{what} is `{text}`, which is no number")))
        };
        let (x, y) = (value("x")?, value("y")?);
        if log_x && x <= 0.0 {
            return Err((
                number,
                format!("x is {x}, and a logarithmic scale takes numbers above 0"),
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
        return Err((2, "there are no points".to_owned()));
    }
    Ok(table)
}

/// What the values span, and a little more.
fn span(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let room = if high > low { (high - low) * 0.08 } else { 1.0 };
    low - room..high + room
}

type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(area: &Area<'_>, table: &Table, args: &ChartArgs) -> Drawn {
    area.fill(&WHITE)?;
    let points = || table.series.iter().flat_map(|(_, points)| points);
    let y = span(points().map(|point| point.1));
    if args.log_x {
        let x = span(points().map(|point| point.0.ln()));
        draw_on(area, table, args, (x.start.exp()..x.end.exp()).log_scale(), y)
    } else {
        draw_on(area, table, args, span(points().map(|point| point.0)), y)
    }
}

fn draw_on<X>(area: &Area<'_>, table: &Table, args: &ChartArgs, x: X, y: Range<f64>) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .caption(&args.title, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d(x, y)?;
    chart.configure_mesh().light_line_style(WHITE).x_desc(&table.x).y_desc(&table.y).draw()?;
    for (at, (name, points)) in table.series.iter().enumerate() {
        let color = Palette99::pick(at).to_rgba();
        let places = || points.iter().map(|&(x, y, _)| (x, y));
        if !args.points {
            chart.draw_series(LineSeries::new(places(), color.stroke_width(2)))?;
        }
        let dots =
            chart.draw_series(places().map(|place| Circle::new(place, 3, color.filled())))?;
        dots.label(name).legend(move |(x, y)| Circle::new((x + 8, y), 3, color.filled()));
        let labels = points.iter().filter(|point| !point.2.is_empty());
        chart.draw_series(labels.map(|(x, y, label)| {
            EmptyElement::at((*x, *y)) + Text::new(label.clone(), (6, -12), ("sans-serif", 12))
        }))?;
    }
    if table.series.len() > 1 {
        chart.configure_series_labels().border_style(BLACK).background_style(WHITE).draw()?;
    }
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(text: &str, log_x: bool) -> String {
        let table = parse(text, log_x).unwrap();
        let args = ChartArgs { file: None, title: "A <title>".into(), log_x, points: false };
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, (720, 440)).into_drawing_area();
        draw(&area, &table, &args).unwrap();
        drop(area);
        svg
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
    fn what_does_not_read_is_named_with_its_line() {
        let problem = |text, log_x| parse(text, log_x).unwrap_err();
        assert_eq!(problem("", false).0, 1);
        assert_eq!(problem("s\tx\ty\n", false).0, 2);
        let (line, text) = problem("s\tx\ty\n\na\t1\tmuch\n", false);
        assert!(line == 3 && text.contains("`much`"), "{line} {text}");
        assert!(problem("s\tx\ty\na\t1\n", false).1.contains("tabs"));
        assert!(problem("s\tx\ty\na\tNaN\t1\n", false).1.contains("NaN"));
        assert!(problem("s\tx\ty\na\t0\t1\n", true).1.contains("logarithmic"));
    }
}
