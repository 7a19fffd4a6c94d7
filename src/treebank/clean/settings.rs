//! The settings of cleaning, `[clean]` in a preset.

use super::rules::TreeRules;
use crate::tree::TRACE;
use serde::{Deserialize, Deserializer, Serialize};

/// The steps of cleaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cleaning {
    /// Rules in the language of Tsurgeon, applied to the trees of a treebank as they are in its files, before all other steps.
    /// Trees on which a rule goes on without end are not changed: try new rules with `srparse tree --rules`, which says so.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "TreeRules::is_empty")]
    pub rules: TreeRules,
    /// Labels and tags of nodes and words to remove, with everything below them, such as `ID` or `CODE*`; `*`
    /// matches any characters. For treebanks only: sentences to parse keep such tokens.
    pub drop: Vec<String>,
    /// Tags and, in treebanks, words of empty elements, such as `-NONE-` or `*T*...`; `...` matches any
    /// characters, and `*` only itself. They are removed, and so are nodes without any token.
    #[serde(deserialize_with = "traces_or_switch")]
    pub traces: Vec<String>,
    /// The separator between a word of the treebank and its lemma: `-` in `hestar-hestur`. Empty if there are no
    /// lemmas.
    ///
    /// The first character of a word is never a separator, and a word that consists of separators has no
    /// lemma.
    pub lemma_separator: String,
    /// The separator after which the lemma begins, if there are several.
    pub lemma_after: Separator,
    /// Replacements inside the words of a treebank, each `FROM TO`, such as `<dash/> -`. They follow the removal of lemmas. One
    /// that would make a word more than 1,000 bytes longer than it was leaves it as it is.
    pub replace: Vec<String>,
    /// Words that texts write together with the word before them, such as Indonesian `nya`, so that the model learns to
    /// split raw text there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<String>,
    /// New labels for the nodes of a treebank, each `FROM TO`, such as `NX NML`, or `NP(WDT) WHNP` for nodes over a single
    /// word with this tag. `FROM` is a label without function tags.
    #[schemars(with = "Vec<String>")]
    pub relabel: Vec<Relabel>,
    /// The characters at which the tags of a treebank are cut; with `-`, `NN-SB` becomes `NN`.
    pub tag_separators: String,
    /// Whether node labels keep function tags: `NP-SBJ-1` becomes `NP` or `NP-SBJ`.
    ///
    /// A label is cut at the first separator that is not its first character; a label that starts and ends
    /// with a separator (`-LRB-`) is not cut.
    #[serde(deserialize_with = "functions_or_switch")]
    pub functions: Functions,
    /// Removes indices from labels that keep their function tags: `-1`, `=2`, `{A}`.
    pub indices: bool,
    /// The characters that separate function tags and indices; some treebanks use `#`, `*` or `|`.
    pub separators: String,
    /// Renames `PRT` to `ADVP` (Magerman 1995).
    pub prt_to_advp: bool,
    /// Removes quotation marks, the tokens tagged ` `` ` and `''`.
    pub quotes: bool,
    /// Raises punctuation to the lowest node that contains words on both sides of it; at the edges of the sentence, to
    /// the node below the root (Collins 1999).
    pub raise_punctuation: bool,
    /// Removes punctuation at the edges of the sentence.
    pub outermost_punctuation: bool,
    /// The tags that count as punctuation, separated by spaces; the default is EVALB's.
    pub punctuation: String,
    /// Merges a node with its only child if they have the same label.
    pub collapse_unaries: bool,
    /// Lowercases words.
    pub lowercase: bool,
    /// Replaces words seen fewer times than this in training by `UNK`.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub unknown_below: u32,
    /// How the root is changed.
    pub root: RootPolicy,
}

/// A new label for some nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Relabel {
    /// The label, without function tags.
    pub(super) from: String,
    /// The tag of the single word below, if only nodes over such a word are meant.
    pub(super) tag: Option<String>,
    /// The new label.
    pub(super) to: String,
}

impl TryFrom<String> for Relabel {
    type Error = String;

    fn try_from(rule: String) -> Result<Self, String> {
        let problem = || {
            format!(
                "clean.relabel has the rule `{rule}`: write FROM TO, such as NX NML or NP(WDT) WHNP"
            )
        };
        let mut words = rule.split_ascii_whitespace();
        let (Some(from), Some(to), None) = (words.next(), words.next(), words.next()) else {
            return Err(problem());
        };
        let (from, tag) = match from.strip_suffix(')').map(|from| from.split_once('(')) {
            None => (from, None),
            Some(Some((from, tag))) if !from.is_empty() && !tag.is_empty() => (from, Some(tag)),
            Some(_) => return Err(problem()),
        };
        Ok(Self { from: from.to_owned(), tag: tag.map(str::to_owned), to: to.to_owned() })
    }
}

impl From<Relabel> for String {
    fn from(Relabel { from, tag, to }: Relabel) -> Self {
        match tag {
            Some(tag) => format!("{from}({tag}) {to}"),
            None => format!("{from} {to}"),
        }
    }
}

/// Whether function tags are removed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Functions {
    /// Removes them, and indices with them.
    #[default]
    Drop,
    /// Keeps them, so that the parser learns them.
    Keep,
}

/// One of several separators in a word.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Separator {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
}

/// How the root is changed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RootPolicy {
    /// Every tree gets exactly one `TOP` as root: an unlabelled root, `ROOT`, `S1` and `VROOT` are renamed; any
    /// other root gets a `TOP` above it.
    #[default]
    Top,
    /// The root is not changed.
    Keep,
}

impl Default for Cleaning {
    fn default() -> Self {
        Self {
            rules: TreeRules::default(),
            drop: Vec::new(),
            traces: vec![TRACE.to_owned()],
            lemma_separator: String::new(),
            lemma_after: Separator::First,
            replace: Vec::new(),
            attached: Vec::new(),
            relabel: Vec::new(),
            tag_separators: String::new(),
            functions: Functions::Drop,
            indices: true,
            separators: "-=".to_owned(),
            prt_to_advp: false,
            quotes: false,
            raise_punctuation: false,
            outermost_punctuation: false,
            punctuation: ", : `` '' .".to_owned(),
            collapse_unaries: true,
            lowercase: false,
            unknown_below: 0,
            root: RootPolicy::Top,
        }
    }
}

impl Cleaning {
    /// Returns a cleaning without any steps.
    pub fn none() -> Self {
        Self {
            traces: Vec::new(),
            functions: Functions::Keep,
            indices: false,
            collapse_unaries: false,
            root: RootPolicy::Keep,
            ..Self::default()
        }
    }
}

/// A setting that was a switch in earlier models.
#[derive(Deserialize)]
#[serde(untagged)]
enum OrSwitch<T> {
    Switch(bool),
    Setting(T),
}

fn traces_or_switch<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match OrSwitch::deserialize(from)? {
        OrSwitch::Switch(true) => vec![TRACE.to_owned()],
        OrSwitch::Switch(false) => Vec::new(),
        OrSwitch::Setting(traces) => traces,
    })
}

fn functions_or_switch<'de, D: Deserializer<'de>>(from: D) -> Result<Functions, D::Error> {
    Ok(match OrSwitch::deserialize(from)? {
        OrSwitch::Switch(true) => Functions::Drop,
        OrSwitch::Switch(false) => Functions::Keep,
        OrSwitch::Setting(functions) => functions,
    })
}
