//! Features as people read them: addresses with the values of a row, by name.

use crate::feature::template::{Field, Question};
use crate::feature::{ColumnKind, Row, Templates, extract};
use crate::symbols::{Label, NOTHING, UNKNOWN, Vocabulary};

/// Writes the features of a model.
pub(super) struct FeatureText<'a> {
    templates: &'a Templates,
    vocabulary: &'a Vocabulary,
    label: Box<dyn Fn(Label) -> String + 'a>,
}

impl<'a> FeatureText<'a> {
    pub(super) fn new(
        templates: &'a Templates,
        vocabulary: &'a Vocabulary,
        label: impl Fn(Label) -> String + 'a,
    ) -> Self {
        Self { templates, vocabulary, label: Box::new(label) }
    }

    /// A template with its values, such as `s0.n=NP b0.t=VBZ`.
    pub(super) fn template(&self, number: u16, row: &Row) -> String {
        let columns = self.templates.conjunctions().get(usize::from(number));
        let columns = columns.map(Vec::as_slice).unwrap_or_default();
        let columns: Vec<String> = columns.iter().map(|&column| self.column(column, row)).collect();
        columns.join(" ")
    }

    /// A column with its value; columns without an address, which learners add, have none.
    pub(super) fn column(&self, column: u16, row: &Row) -> String {
        let value = row.values.get(usize::from(column)).copied().unwrap_or(NOTHING);
        self.with_value(column, value, |_| "={…}".to_owned())
    }

    /// A test for a value, such as `s0.n=NP`; of a set, for a member, such as `kids.n contains NP`.
    pub(super) fn test(&self, column: u16, value: u32) -> String {
        self.with_value(column, value, |member| format!(" contains {member}"))
    }

    fn with_value(&self, column: u16, value: u32, of_set: impl Fn(&str) -> String) -> String {
        let at = usize::from(column);
        let columns = self.templates.columns();
        let (Some(address), Some(column)) = (self.templates.addresses().get(at), columns.get(at))
        else {
            return format!("column {at}");
        };
        let (Question::Field(_, field) | Question::Kids(_, field) | Question::Group { field, .. }) =
            &address.question
        else {
            let is_tree = column.kind == ColumnKind::Tree;
            return if is_tree { column.name.clone() } else { format!("{}={value}", column.name) };
        };
        match column.kind {
            ColumnKind::Set => format!("{}{}", column.name, of_set(&self.field(*field, value))),
            ColumnKind::Nominal if !address.binned => {
                format!("{}={}", column.name, self.field(*field, value))
            }
            _ => format!("{}={value}", column.name),
        }
    }

    fn field(&self, field: Field, value: u32) -> String {
        use Field::{Label as LabelOf, LeftTag, LeftWord, RightTag, RightWord, Symbol, Tag, Word};
        let named = |names: &crate::symbols::Symbols, value: u32| {
            names.of_value(value).map_or_else(|| value.to_string(), str::to_owned)
        };
        match (field, extract::symbol(value)) {
            (_, _) if value == NOTHING => "-".to_owned(),
            (_, extract::SymbolValue::Outside) => "outside".to_owned(),
            (Word | LeftWord | RightWord | Tag | LeftTag | RightTag, _) if value == UNKNOWN => {
                "unknown".to_owned()
            }
            (Word | LeftWord | RightWord, _) => named(self.vocabulary.words(), value),
            (Tag | LeftTag | RightTag, _) => named(self.vocabulary.tags(), value),
            (Symbol, extract::SymbolValue::Tag(tag)) => named(self.vocabulary.tags(), tag),
            (LabelOf | Symbol, extract::SymbolValue::Label { label, temporary, open }) => {
                let star = if temporary { "*" } else { "" };
                format!("{}{}{star}", if open { "(" } else { "" }, (self.label)(label))
            }
            _ => named(self.vocabulary.parts(), value),
        }
    }
}
