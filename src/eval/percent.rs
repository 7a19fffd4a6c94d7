//! Percentages and F1, computed in EVALB's order of operations.

/// Returns `part` in percent of `whole`; 0 when `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// Returns the harmonic mean of precision and recall; 0 where EVALB prints not-a-number.
pub(crate) fn f1(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}
