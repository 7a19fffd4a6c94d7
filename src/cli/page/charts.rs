//! Bar charts of scores, as SVG inside a page, whose style gives text and axes the colours of the page.

use anyhow::anyhow;
use plotters::prelude::*;

use crate::cli::chart::COLORS;

/// Width of a bar, in pixels, with its share of the gap between groups.
const BAR: f64 = 30.0;

/// Width of a group in units of the x axis, which are integers.
const GROUP: i32 = 1000;

/// Draws groups of bars from 0 to 100, one bar of a group for each series.
///
/// # Errors
/// When the library cannot draw it.
pub(in crate::cli) fn bars(
    groups: &[String],
    series: &[(&str, Vec<f64>)],
    x: &str,
) -> anyhow::Result<String> {
    let mut svg = String::new();
    draw(groups, series, x, &mut svg)
        .map_err(|error| anyhow!("the chart cannot be drawn: {error}"))?;
    Ok(svg)
}

fn draw(
    groups: &[String],
    series: &[(&str, Vec<f64>)],
    x: &str,
    svg: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let n = series.len() as f64;
    let width = 90.0 + (groups.len() as f64 * (n + 0.5) * BAR).max(220.0);
    let area = SVGBackend::with_string(svg, (width as u32, 300)).into_drawing_area();
    let middles = (0..groups.len() as i32).map(|at| GROUP * at + GROUP / 2).collect();
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .x_label_area_size(44)
        .y_label_area_size(44)
        .build_cartesian_2d(
            (0..GROUP * groups.len() as i32).with_key_points(middles),
            0.0..112.0,
        )?;
    let name = |at: &i32| groups.get((at / GROUP) as usize).cloned().unwrap_or_default();
    let percent = |score: &f64| if *score > 100.0 { String::new() } else { format!("{score:.0}") };
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh().light_line_style(TRANSPARENT).x_label_formatter(&name);
    mesh.y_label_formatter(&percent).x_desc(x).y_desc("F1").draw()?;
    let share = f64::from(GROUP) / (n + 0.5);
    for ((at, (label, scores)), color) in (0..).zip(series).zip(COLORS) {
        let at_x = |group: usize, x: f64| {
            GROUP * group as i32 + (share * (x + 0.25 + f64::from(at))) as i32
        };
        let bars = scores.iter().enumerate().map(|(group, &score)| {
            Rectangle::new([(at_x(group, 0.0), 0.0), (at_x(group, 0.9), score)], color.filled())
        });
        let drawn = chart.draw_series(bars)?;
        if series.len() > 1 {
            drawn.label(*label).legend(move |(x, y)| {
                Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled())
            });
        }
        let style = ("sans-serif", 12).into_font();
        chart.draw_series(scores.iter().enumerate().map(|(group, &score)| {
            let at = (at_x(group, 0.15), score + 7.0);
            Text::new(format!("{score:.0}"), at, style.clone())
        }))?;
    }
    if series.len() > 1 {
        let mut legend = chart.configure_series_labels();
        legend.position(SeriesLabelPosition::UpperRight).margin(0);
        legend.background_style(WHITE).border_style(BLACK).draw()?;
    }
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bar_is_there_with_its_group_and_score() {
        let groups = ["1-10", "<b>"].map(str::to_owned);
        let series = [("A", vec![91.2, 70.0]), ("B", vec![93.0, 60.6])];
        let svg = bars(&groups, &series, "words").unwrap();
        for part in ["1-10", "&lt;b&gt;", "\n91\n", "\n61\n", "words", "F1"] {
            assert!(svg.contains(part), "{part} is missing in\n{svg}");
        }
        assert!(bars(&[], &[], "label").is_ok());
    }
}
