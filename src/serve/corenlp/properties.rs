//! The properties of a request: a map as JSON, as Python prints it, or as parameters of the address.

use std::collections::BTreeMap;

use super::super::query;

/// Names and values; lists are joined by commas.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Properties(BTreeMap<String, String>);

impl Properties {
    /// Those of a query: of `properties` or `props`, and all other parameters, which win over the map.
    ///
    /// # Errors
    /// When the map cannot be read; says why.
    pub(super) fn of_query(text: &str) -> Result<Self, String> {
        let pairs = query::pairs(text);
        let mut found = Self::default();
        for (_, map) in pairs.iter().filter(|(name, _)| name == "properties" || name == "props") {
            found.0.extend(Map::parse(map)?.0);
        }
        found
            .0
            .extend(pairs.into_iter().filter(|(name, _)| name != "properties" && name != "props"));
        Ok(found)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether a property is true, however Python, Java or JavaScript write it.
    pub(super) fn is(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    }
}

/// Reads a map of strings, numbers and lists of these, in the notation of JSON or of Python.
struct Map<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Map<'t> {
    fn parse(text: &'t str) -> Result<Properties, String> {
        let mut map = Self { text, at: 0 };
        let mut found = Properties::default();
        if map.rest().trim().is_empty() {
            return Ok(found);
        }
        map.expect('{')?;
        while !map.skip('}') {
            let name = map.value()?;
            map.expect(':')?;
            let value = if map.skip('[') { map.list()? } else { map.value()? };
            found.0.insert(name, value);
            if !map.skip(',') {
                map.expect('}')?;
                break;
            }
        }
        if map.rest().trim().is_empty() { Ok(found) } else { Err(map.problem("the end")) }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Skips white space and then this character, if it follows.
    fn skip(&mut self, expected: char) -> bool {
        let rest = self.rest();
        let next = rest.trim_start();
        let follows = next.starts_with(expected);
        self.at += rest.len() - next.len() + if follows { expected.len_utf8() } else { 0 };
        follows
    }

    fn expect(&mut self, expected: char) -> Result<(), String> {
        if self.skip(expected) { Ok(()) } else { Err(self.problem(&format!("`{expected}`"))) }
    }

    fn problem(&self, expected: &str) -> String {
        let column = self.text[..self.at].chars().count() + 1;
        format!(
            "the properties cannot be read: {expected} is expected at character {column}: write them as JSON, such as \
             {{\"annotators\":\"parse\",\"outputFormat\":\"json\"}}"
        )
    }

    /// The rest of a list.
    fn list(&mut self) -> Result<String, String> {
        let mut values = Vec::new();
        while !self.skip(']') {
            values.push(self.value()?);
            if !self.skip(',') {
                self.expect(']')?;
                break;
            }
        }
        Ok(values.join(","))
    }

    /// A string in quotes of either kind, or a bare word.
    fn value(&mut self) -> Result<String, String> {
        for quote in ['"', '\''] {
            if self.skip(quote) {
                return self.quoted(quote);
            }
        }
        let end = self.rest().find([',', ':', '}', ']', '[', '{']).unwrap_or(self.rest().len());
        let word = self.rest()[..end].trim();
        if word.is_empty() {
            return Err(self.problem("a value"));
        }
        self.at += end;
        Ok(word.to_owned())
    }

    /// The rest of a string.
    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut out = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((at, c)) = characters.next() {
            if c == quote {
                self.at += at + 1;
                return Ok(out);
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            match characters.next().map(|(_, c)| c) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('u') => {
                    let digits: String = characters.by_ref().take(4).map(|(_, c)| c).collect();
                    let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                    out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                Some(c) => out.push(c),
                None => break,
            }
        }
        self.at = self.text.len();
        Err(self.problem(&format!("`{quote}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<(String, String)> {
        Map::parse(text).unwrap().0.into_iter().collect()
    }

    #[test]
    fn json_and_python_say_the_same() {
        let json = r#"{"annotators": "tokenize,ssplit", "b": true, "c": ["x", "y"], "q": "it's \"q\" \u00e9", "n": 3}"#;
        let python = r#"{'annotators': 'tokenize,ssplit', 'b': True, 'c': ['x', 'y',], 'q': 'it\'s "q" é', 'n': 3,}"#;
        let (mut json, mut python) = (read(json), read(python));
        assert_eq!((&*json[1].1, &*python[1].1), ("true", "True"));
        json.remove(1);
        python.remove(1);
        assert_eq!(json, python);
        assert_eq!(read("  "), []);
        assert_eq!(read("{}"), []);
    }

    #[test]
    fn bare_parameters_count_more() {
        let query = "properties=%7B%22a%22%3A%22x%22%2C%22b%22%3A%22False%22%7D&a=y&c=TRUE";
        let found = Properties::of_query(query).unwrap();
        assert_eq!((found.get("a"), found.is("b"), found.is("c")), (Some("y"), false, true));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let problem = Map::parse("{'a' 'b'}").unwrap_err();
        assert!(problem.contains("`:` is expected at character 6"), "{problem}");
        let problem = Map::parse("{\"é\": }").unwrap_err();
        assert!(problem.contains("a value is expected at character 7"), "{problem}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*", brackets in "[\\[\\]{}:,'\"\\\\ua ]*") {
            let _ = Map::parse(&text);
            let _ = Map::parse(&brackets);
            let _ = Map::parse(&format!("{{{brackets}}}"));
        }
    }
}
