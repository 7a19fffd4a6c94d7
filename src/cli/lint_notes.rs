//! Prints the findings of the lint before training.

use super::options::ProfileArg;
use crate::preset::TreebankProfile;
use crate::treebank::lint::Finding;

/// Prints the findings, each with the setting that fixes it, and points to the profiles.
pub(super) fn print(findings: &[Finding], profile: &ProfileArg) {
    for finding in findings {
        match &finding.setting {
            Some(setting) => say!("note: {finding}: try --set '{setting}'"),
            None => say!("note: {finding}"),
        }
    }
    if findings.iter().any(|finding| finding.setting.is_some()) && !profile.is_given() {
        let names: Vec<&str> = TreebankProfile::names().collect();
        say!("note: --treebank NAME has all settings for a known treebank: {}", names.join(", "));
    }
}
