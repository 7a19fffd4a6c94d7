//! The contributions of hidden states to decisions, computed when a decision needs them.

use std::ops::Range;

use super::POSITIONS;
use crate::neural::inference::{Panel, WINDOW};
use crate::neural::lanes::Lanes;

/// The largest number of windows in memory, of a sentence of a thousand words.
const SLOTS: usize = 32;
const _: () = assert!(POSITIONS < SLOTS, "a decision finds all that it looks at in memory");
/// The slot of a window that is not in memory.
const NONE: u32 = u32::MAX;

/// The contributions of hidden states, in windows of [`WINDOW`] rows. A window is computed when a decision needs it; of a
/// long sentence, only the last [`SLOTS`] computed ones are in memory.
#[derive(Debug, Default)]
pub(super) struct Contributions {
    /// The slot of each window, or [`NONE`].
    slots: Vec<u32>,
    /// The window in each slot, and its contributions row by row.
    windows: Vec<(usize, Vec<Panel>)>,
    /// The slot to use next.
    next: usize,
    rows: usize,
    /// The panels of a row.
    panels: usize,
}

impl Contributions {
    /// Starts a sentence of so many rows, each with so many panels.
    pub(super) fn start(&mut self, rows: usize, panels: usize) {
        (self.rows, self.panels, self.next) = (rows, panels, 0);
        self.slots.clear();
        self.slots.resize(rows.div_ceil(WINDOW), NONE);
    }

    /// Computes the windows of rows that are not in memory.
    pub(super) fn compute(
        &mut self,
        rows: &[usize],
        mut products: impl FnMut(Range<usize>, &mut Vec<Panel>),
    ) {
        let absent = |slots: &[u32]| {
            rows.iter().map(|row| row / WINDOW).find(|&window| slots[window] == NONE)
        };
        // A window may replace another one of the same rows, which is then computed again, but none of these.
        while let Some(window) = absent(&self.slots) {
            if self.windows.len() == self.next {
                self.windows.push((window, Vec::new()));
            }
            let (before, contributions) = &mut self.windows[self.next];
            // A window of the sentence before is not in the slot any more.
            if self.slots.get(*before) == Some(&(self.next as u32)) {
                self.slots[*before] = NONE;
            }
            let first = window * WINDOW;
            products(first..self.rows.min(first + WINDOW), contributions);
            (*before, self.slots[window]) = (window, self.next as u32);
            self.next = (self.next + 1) % SLOTS;
        }
    }

    /// The contributions of a row that has been computed, at every position.
    pub(super) fn of(&self, row: usize) -> &[Lanes] {
        let (_, contributions) = &self.windows[self.slots[row / WINDOW] as usize];
        contributions[row % WINDOW * self.panels..][..self.panels].as_flattened()
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::*;

    /// Writes the number of each row into its panels; returns the number of windows that were computed.
    fn compute(contributions: &mut Contributions, rows: &[usize]) -> usize {
        let mut computed = 0;
        contributions.compute(rows, |window, out| {
            computed += 1;
            out.clear();
            for row in window {
                let mut panel = Panel::zeroed();
                panel[0].0[0] = row as f32;
                out.extend([panel; 2]);
            }
        });
        for &row in rows {
            assert_eq!(contributions.of(row).len(), 8);
            assert_eq!(contributions.of(row)[4].0[0] as usize, row);
        }
        computed
    }

    #[test]
    fn all_rows_of_a_decision_are_in_memory_and_windows_are_computed_once() {
        let mut contributions = Contributions::default();
        for windows in [1, 2, SLOTS, SLOTS + 1, 5 * SLOTS] {
            let n = windows * WINDOW - 3;
            contributions.start(n, 2);
            let mut computed = 0;
            for next in 0..n {
                // Decisions of a parser whose oldest constituents begin at the first rows.
                computed += compute(
                    &mut contributions,
                    &[next, next.saturating_sub(5), next / 2, 0, 40.min(n - 1)],
                );
            }
            if windows <= SLOTS {
                assert_eq!(computed, windows);
            }
            assert!(contributions.windows.len() <= SLOTS);
        }
    }
}
