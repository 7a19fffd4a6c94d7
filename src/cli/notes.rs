//! Notes about single input lines, of which only the first few are printed.

/// The number of notes of one kind that are printed.
pub(super) const NAMED: u64 = 10;

/// The notes of one kind.
#[derive(Debug)]
pub(super) struct Notes {
    /// The name of the items that are counted, in the plural.
    what: &'static str,
    quiet: bool,
    count: u64,
}

impl Notes {
    /// No notes so far; none are printed if `quiet`.
    pub(super) fn new(what: &'static str, quiet: bool) -> Self {
        Self { what, quiet, count: 0 }
    }

    /// Prints a note, unless there have been too many.
    pub(super) fn print(&mut self, message: &str) {
        self.count += u64::from(!self.quiet);
        if !self.quiet && self.count <= NAMED {
            say!("{message}");
        }
    }

    /// Prints how many notes were suppressed.
    pub(super) fn end(&self) {
        if self.count > NAMED {
            say!("… and {} more {}", grouped(self.count - NAMED), self.what);
        }
    }
}

/// Formats a number with commas between groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_end() {
        let texts = [0, 999, 1_000, 6_255, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "6,255", "1,234,567"]);
    }
}
