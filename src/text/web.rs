//! Web, e-mail and DOI addresses and paths of files, which are not split.

use std::ops::Range;

use super::script::is_unspaced;

/// The top-level domains that are recognized without `http://` or `www.`.
const DOMAINS: &[&str] = &["com", "org", "net", "edu", "gov", "io", "uk", "eu", "de", "info"];

/// The maximum length of a part of an address, which limits how often text is read again.
const LONGEST: usize = 256;

/// Whether a text without white space may contain an address.
pub(super) fn may_hold_address(chunk: &str) -> bool {
    let is_domain = |part: &str| {
        let end = part.find(|c: char| !c.is_alphanumeric()).unwrap_or(part.len());
        DOMAINS.contains(&&part[..end])
    };
    ["://", "www.", "@", "doi:", "DOI:", "10."].iter().any(|sign| chunk.contains(sign))
        || chunk.split('.').skip(1).any(is_domain)
}

/// The addresses in a line, in order; each begins where no word goes on.
pub(super) fn addresses(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = if may_hold_address(line) { 0 } else { line.len() };
    std::iter::from_fn(move || {
        while at < line.len() {
            let start = at;
            if let Some(length) = address(&line[start..]) {
                at += length;
                return Some(start..at);
            }
            let rest = &line[start..];
            let word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            at += if word > 0 { word } else { rest.chars().next().map_or(1, char::len_utf8) };
        }
        None
    })
}

/// The length of the address at the beginning of a text; `None` if there is none.
pub(super) fn address(text: &str) -> Option<usize> {
    if !text.starts_with(char::is_alphanumeric) {
        return None;
    }
    if has_scheme(text) || text.starts_with("www.") || is_doi(text) {
        return Some(trimmed(text));
    }
    email(text).or_else(|| host(text))
}

fn has_scheme(text: &str) -> bool {
    let scheme = text.bytes().take(8).take_while(u8::is_ascii_alphabetic).count();
    text[scheme..].starts_with("://")
}

/// Whether a text begins with `doi:` or, as these identifiers do, with `10.1234/`.
fn is_doi(text: &str) -> bool {
    let identifier =
        text.strip_prefix("doi:").or_else(|| text.strip_prefix("DOI:")).unwrap_or(text);
    let Some(after) = identifier.strip_prefix("10.") else { return false };
    let digits = after.bytes().take(9).take_while(u8::is_ascii_digit).count();
    digits >= 4 && after[digits..].starts_with('/')
}

/// The length of the host name, or of the part before the `@`, at the beginning of a text.
fn run(text: &str, others: &[u8]) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || others.contains(byte);
    text.bytes().take(LONGEST).take_while(is_part).count()
}

fn email(text: &str) -> Option<usize> {
    let name = run(text, b"._%+-");
    let after = text[name..].strip_prefix('@')?;
    let host = after[..run(after, b".-")].trim_end_matches(['.', '-']);
    host.contains('.').then_some(name + 1 + host.len())
}

/// The length of a web address without a scheme.
fn host(text: &str) -> Option<usize> {
    let host = text[..run(text, b".-")].trim_end_matches(['.', '-']);
    let (name, domain) = host.rsplit_once('.')?;
    if name.is_empty() || !DOMAINS.contains(&domain) {
        return None;
    }
    let has_path = text[host.len()..].starts_with('/');
    Some(if has_path { trimmed(text) } else { host.len() })
}

/// Whether a text begins as paths do, which is quick to tell.
pub(super) fn may_be_path(text: &str) -> bool {
    let mut bytes = text.bytes();
    match bytes.next() {
        Some(b'/' | b'~' | b'.') => true,
        Some(first) => first.is_ascii_alphabetic() && bytes.next() == Some(b':'),
        None => false,
    }
}

/// The length of the path of a file at the beginning of a text: `/etc/passwd`, `~/x`, `../x`, `C:\x`; `None` if there is none.
pub(super) fn path(text: &str) -> Option<usize> {
    let has_drive = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let root = if has_drive {
        text[1..].strip_prefix(":\\")
    } else {
        let folder = ["~/", "./", "../"].iter().find_map(|folder| text.strip_prefix(folder));
        let has_more = |path: &&str| path.split('/').nth(1).is_some_and(begins_name);
        folder.or_else(|| text.strip_prefix('/').filter(has_more))
    };
    root.filter(|path| begins_name(path)).map(|_| trimmed(text))
}

fn begins_name(path: &str) -> bool {
    path.trim_start_matches('.').starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// The length of an address that extends to the end of the text or to a character that no address contains, such as white
/// space or one of a script without spaces. It does not include final punctuation or closing brackets without an opening one.
fn trimmed(text: &str) -> usize {
    let is_east_asian = |c: char| {
        is_unspaced(c)
            || ('\u{3000}'..='\u{303f}').contains(&c)
            || ('\u{ff00}'..='\u{ffef}').contains(&c)
    };
    let quotes = "`<>\"\u{201c}\u{201d}\u{2018}\u{2019}\u{ab}\u{bb}\u{2014}";
    let foreign = |c: char| c.is_whitespace() || quotes.contains(c) || is_east_asian(c);
    let address = &text[..text.find(foreign).unwrap_or(text.len())];
    let pairs = [('(', ')'), ('[', ']'), ('{', '}')];
    let unmatched = pairs.map(|(opening, closing)| (closing, !address.contains(opening)));
    let is_final = |c: char| ".,;:!?'".contains(c) || unmatched.contains(&(c, true));
    address.trim_end_matches(is_final).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        address(text).map(|length| &text[..length])
    }

    #[test]
    fn addresses_end_before_final_punctuation() {
        assert_eq!(found("http://a.example/b?c=(d)."), Some("http://a.example/b?c=(d)"));
        assert_eq!(found("https://a.example),"), Some("https://a.example"));
        assert_eq!(found("www.a.example/b\u{201d}"), Some("www.a.example/b"));
        assert_eq!(found("a.b+c@d.example."), Some("a.b+c@d.example"));
        assert_eq!(found("my-site.org/x,y;"), Some("my-site.org/x,y"));
        assert_eq!(found("doi:10.1234/a.b(c)1.x)."), Some("doi:10.1234/a.b(c)1.x)"));
        assert_eq!(
            found("https://a.example/\u{e9}t\u{e9} et le chat."),
            Some("https://a.example/\u{e9}t\u{e9}")
        );
        assert_eq!(found("a.org/b\tc"), Some("a.org/b"));
        assert_eq!(found("https://a.example/をご覧ください。"), Some("https://a.example/"));
        assert_eq!(found("https://a.example/b」と"), Some("https://a.example/b"));
    }

    #[test]
    fn paths_have_a_root() {
        for (text, end) in [
            ("/etc/passwd.", 11),
            ("~/.bashrc`", 9),
            ("./a.out", 7),
            ("../x/y)", 6),
            (r"C:\Users\bo.", 11),
        ] {
            assert_eq!(path(text), Some(end), "{text}");
        }
        for text in ["/he", "//x/y", "/ x/y", "a/b/c", "./", "~", "C:x", "\u{e9}:", "...", "/a//b"]
        {
            assert_eq!(path(text), None, "{text}");
        }
    }

    #[test]
    fn other_words_are_no_addresses() {
        for text in ["e.g.", "3.5", "10.1", "and/or", "a@b", "Ph.D", "end.com1", "://", "@a.org"] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
