//! Any text, with settings after a line of dashes: valid presets survive writing and reading, and are planned or
//! refused.

use srparse::preset::Preset;
use srparse::preset::plan::Plan;

use super::start;

pub fn check(bytes: &[u8]) {
    let text = start(bytes);
    let (text, settings) = text.split_once("\n---\n").unwrap_or((text, ""));
    let settings: Vec<String> = settings.lines().map(str::to_owned).collect();
    let Ok(preset) = Preset::parse(text, "fuzz", &settings) else { return };
    let again = Preset::parse(&preset.to_toml(), "again", &[]).expect("written presets read");
    // A setting may be NaN, which equals nothing.
    assert_eq!(format!("{again:?}"), format!("{preset:?}"));
    // Refusals are fine, panics are not.
    let _ = Plan::new(preset);
}
