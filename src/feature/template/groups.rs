//! Groups of templates by the headings of their file, and what is left without some of them.

use super::parse::parse_address;
use super::{Address, DIRECTIVES, Templates};
use crate::error::{Error, Result, did_you_mean};

impl Templates {
    /// Returns the templates that contain none of these addresses and stand below none of these headings.
    ///
    /// # Errors
    /// When there is no such address or heading, or no template remains.
    pub fn without(&self, left_out: &[String]) -> Result<Self> {
        let mut dropped = vec![false; self.conjunctions.len()];
        for name in left_out {
            for at in self.named_by(name)? {
                dropped[at] = true;
            }
        }
        let (mut text, mut before) = (String::new(), DIRECTIVES.len() as u8 - 1);
        for at in (0..dropped.len()).filter(|&at| !dropped[at]) {
            let names =
                self.conjunctions[at].iter().map(|&at| self.names[usize::from(at)].as_str());
            let steps = self.steps[at];
            if steps != before {
                text.push_str(DIRECTIVES[usize::from(steps)].0);
                text.push('\n');
                before = steps;
            }
            text.push_str(&names.collect::<Vec<_>>().join(" "));
            text.push('\n');
        }
        if text.is_empty() {
            let problem = "no template remains: leave out fewer of them";
            return Err(Error::config("features.without", problem));
        }
        Self::parse(&text, "templates")
    }

    /// Returns whether some templates stand below this heading and some do not.
    pub fn can_leave_out(&self, heading: &str) -> bool {
        let below = self.headings.iter().filter(|other| *other == heading).count();
        (1..self.headings.len()).contains(&below)
    }

    /// Returns the headings, in order of first appearance, each with its number of templates.
    pub fn groups(&self) -> Vec<(&str, usize)> {
        let mut groups: Vec<(&str, usize)> = Vec::new();
        for heading in self.headings.iter().filter(|heading| !heading.is_empty()) {
            match groups.iter_mut().find(|(known, _)| known == heading) {
                Some((_, templates)) => *templates += 1,
                None => groups.push((heading, 1)),
            }
        }
        groups
    }

    /// Returns the heading that begins with a text, in whatever case.
    ///
    /// # Errors
    /// When there is none or more than one; a whole heading is never ambiguous.
    pub fn group(&self, beginning: &str) -> Result<&str, String> {
        let wanted = beginning.to_lowercase();
        let groups: Vec<&str> = self.groups().into_iter().map(|(heading, _)| heading).collect();
        let whole = groups.iter().find(|heading| heading.to_lowercase() == wanted);
        let mut found = groups.iter().filter(|heading| heading.to_lowercase().starts_with(&wanted));
        match (whole, found.next(), found.next()) {
            (Some(only), ..) | (None, Some(only), None) => Ok(only),
            (None, None, _) => {
                let known = groups.join("; ");
                Err(format!("no template stands below a heading `{beginning}`: there are {known}"))
            }
            (None, Some(one), Some(other)) => {
                Err(format!("`{beginning}` may be `{one}` or `{other}`: write more of the heading"))
            }
        }
    }

    /// Returns the templates with an address, or else below a heading.
    fn named_by(&self, name: &str) -> Result<Vec<usize>> {
        let all = 0..self.conjunctions.len();
        let address = parse_address(name);
        let known = |address: &Address| self.addresses.iter().position(|known| known == address);
        if let Some(column) = address.as_ref().ok().and_then(known) {
            let contains = |&at: &usize| self.conjunctions[at].contains(&(column as u16));
            return Ok(all.filter(contains).collect());
        }
        let problem = match (self.group(name), address) {
            (Ok(heading), _) => {
                return Ok(all.filter(|&at| self.headings[at] == heading).collect());
            }
            (Err(_), Ok(_)) => {
                let hint = did_you_mean(name, self.names.iter().map(String::as_str));
                format!("no template contains `{name}`: {hint}give an address of a template")
            }
            (Err(no_heading), Err(_)) if name.contains(' ') => no_heading,
            (Err(_), Err(no_address)) => no_address,
        };
        Err(Error::config("features.without", problem))
    }
}

/// The heading at a line of a template file: the last comment of its own lines.
#[derive(Default)]
pub(super) struct Heading {
    text: String,
    /// Whether the next line may go on with it.
    is_open: bool,
}

impl Heading {
    pub(super) fn read(&mut self, line: &str) {
        let comment = line.trim().strip_prefix('#').map(str::trim);
        match comment {
            Some(comment) if self.is_open => {
                self.text.push(' ');
                self.text.push_str(comment);
            }
            Some(comment) => comment.clone_into(&mut self.text),
            None => {}
        }
        self.is_open = comment.is_some();
    }

    /// Without the full stop.
    pub(super) fn name(&self) -> &str {
        self.text.trim_end_matches('.')
    }
}
