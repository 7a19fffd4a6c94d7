//! Queries of addresses, after `?`, and bodies of forms.

use percent_encoding::percent_decode;

/// The names and values of a query; what cannot be decoded stays.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let text = |part: &str| String::from_utf8_lossy(&decoded(part.as_bytes())).into_owned();
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (text(name), text(value))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

/// Bytes with `+` for a space and `%` before two hexadecimal digits decoded; a `%` before anything else stays.
pub(super) fn decoded(bytes: &[u8]) -> Vec<u8> {
    let spaced: Vec<u8> =
        bytes.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }).collect();
    percent_decode(&spaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_decoded_stays() {
        assert_eq!(decoded(b"a%20b+c%C3%a9 100% %4 %zz%"), "a b cé 100% %4 %zz%".as_bytes());
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(pairs("a=1&b&&c=%3D=%26"), [own("a", "1"), own("b", ""), own("c", "==&")]);
    }
}
