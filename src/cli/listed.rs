//! Option values with known names, which shells complete; other values, such as paths, are accepted too.

use std::ffi::OsStr;
use std::str::FromStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use crate::eval::Params;
use crate::preset::{Preset, TreebankProfile};
use crate::tree::heads::HeadRules;
use crate::treebank::Encoding;
use crate::treebank::sentences::InputFormat;

/// A value parser with the names to complete.
#[derive(Clone)]
pub(super) struct Listed<P> {
    parser: P,
    names: Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for Listed<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// Names of presets, and files.
pub(super) fn presets() -> Listed<StringValueParser> {
    Listed { parser: StringValueParser::new(), names: Preset::names().collect() }
}

/// Names of treebank profiles, and files.
pub(super) fn treebanks() -> Listed<StringValueParser> {
    Listed { parser: StringValueParser::new(), names: TreebankProfile::names().collect() }
}

/// Names of head rules, and files.
pub(super) fn heads() -> Listed<StringValueParser> {
    Listed { parser: StringValueParser::new(), names: HeadRules::names().collect() }
}

/// Names of EVALB parameters, and files.
pub(super) fn params() -> Listed<StringValueParser> {
    Listed { parser: StringValueParser::new(), names: Params::names().collect() }
}

/// Input formats.
pub(super) fn input_formats() -> Listed<impl TypedValueParser<Value = InputFormat>> {
    let parser = StringValueParser::new().try_map(|name| InputFormat::from_str(&name));
    Listed { parser, names: InputFormat::NAMES.to_vec() }
}

/// Encodings.
pub(super) fn encodings() -> Listed<impl TypedValueParser<Value = Encoding>> {
    let parser = StringValueParser::new().try_map(|name| Encoding::from_str(&name));
    Listed { parser, names: Encoding::NAMES.to_vec() }
}
