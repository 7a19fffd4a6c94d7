//! Self-contained HTML pages: styles, scripts and data inside, nothing from the network.
//!
//! A page is a template with typed values ([`askama`] escapes them), then its data as JSON, which the scripts read to draw
//! what is shown. Styles, scripts and templates are the files of this folder. The policy in `page.html` allows no script
//! but the page's own, so that even text that were not escaped would not run.

mod brackets;
pub(super) mod charts;
pub(super) mod player;
#[cfg(feature = "serve")]
pub(super) mod serve;
pub(super) mod trees;

use std::io::{self, Write};

use askama::Template;
use serde::Serialize;

pub(super) use brackets::TreeData;

/// The contents of the templates.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(super) const STYLE: &str = include_str!("page.css");
pub(super) const TREE_SCRIPT: &str = include_str!("tree.js");
pub(super) const TREES_SCRIPT: &str = include_str!("trees.js");
pub(super) const PLAYER_SCRIPT: &str = include_str!("player.js");
pub(super) const DIFF_SCRIPT: &str = include_str!("diff.js");

/// Writes a page up to its data: lines that [`write_line`] writes, then [`END`].
///
/// # Errors
/// When writing fails.
pub(super) fn begin(template: &impl Template, out: &mut impl Write) -> io::Result<()> {
    Template::write_into(template, &mut visible(&mut *out))?;
    out.write_all(b"\n")
}

/// A writer of text that HTML can have: characters such as NUL, which it cannot even have as references, become the
/// replacement character.
fn visible<W: Write>(out: W) -> Replacing<W, impl Fn(&u8) -> bool> {
    let is_invisible = |byte: &u8| *byte < b' ' && !matches!(byte, b'\n' | b'\t' | b'\r');
    Replacing { out, is_replaced: is_invisible, by: "\u{fffd}".as_bytes() }
}

/// The end of a page, after its data.
pub(super) const END: &[u8] = b"</script>\n</body>\n</html>\n";

/// Writes a value as a line of the data of a page.
///
/// # Errors
/// When writing fails.
pub(super) fn write_line(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(harmless(&mut *out), value)?;
    out.write_all(b"\n")
}

/// A writer of JSON in which HTML sees no tag or comment: `<`, which is only in strings, becomes an escape.
fn harmless<W: Write>(out: W) -> Replacing<W, impl Fn(&u8) -> bool> {
    Replacing { out, is_replaced: |byte: &u8| *byte == b'<', by: b"\\u003c" }
}

/// Writes something else in place of certain bytes.
struct Replacing<W, F> {
    out: W,
    is_replaced: F,
    by: &'static [u8],
}

impl<W: Write, F: Fn(&u8) -> bool> Write for Replacing<W, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut parts = bytes.split(&self.is_replaced);
        self.out.write_all(parts.next().unwrap_or_default())?;
        for part in parts {
            self.out.write_all(self.by)?;
            self.out.write_all(part)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_no_characters_that_html_cannot_have() {
        let mut out = Vec::new();
        visible(&mut out).write_all(b"a\0b\x1b\n").unwrap();
        assert_eq!(out, "a\u{fffd}b\u{fffd}\n".as_bytes());
    }

    #[test]
    fn json_in_a_page_ends_no_script_and_says_the_same() {
        let text = "</script><script>alert(1)</script><!-- \u{2028} \"'&";
        let mut out = Vec::new();
        serde_json::to_writer(harmless(&mut out), text).unwrap();
        assert!(!out.contains(&b'<'));
        assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    }
}
