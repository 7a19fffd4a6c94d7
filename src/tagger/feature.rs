//! The features of the perceptron tagger, as one-hot ids.
//!
//! Features of one word at a given distance from the token are the same wherever the word occurs, so their
//! weights can be added up once per word; only [`context`] depends on several words or on tags.

use super::form::Form;
use crate::hash::{MULTIPLIER, finish, mix};

/// The number of words of context on each side.
pub const REACH: usize = 2;
/// The number of positions in the window: from two words to the left of the token to two to its right.
pub const PLACES: usize = 2 * REACH + 1;
/// The number of tags of context on the left.
pub const HISTORY: usize = 3;
/// Maximum number of ids of a token: of its word, of two neighbours, of two words farther off, of the
/// context.
pub const MOST: usize = 15 + 2 * 5 + 2 * 4 + 18;

/// The id of a template with two values.
fn id(template: u64, a: u64, b: u64) -> u64 {
    finish(mix::<23>(mix::<23>(template.wrapping_mul(MULTIPLIER), a), b))
}

/// Adds the ids of a word at a position of the window, below [`PLACES`]; [`REACH`] is the token itself.
pub fn word(place: usize, form: &Form, out: &mut Vec<u64>) {
    let base = 100 * (place as u64 + 1);
    let class = u64::from(form.class);
    let mut push = |template: u64, value: u64| {
        if value != 0 {
            out.push(id(base + template, value, 0));
        }
    };
    push(0, form.lower);
    push(1, form.shape);
    push(2, form.suffixes[2]);
    push(3, class + 1);
    if place == REACH {
        push(4, form.word);
        push(5, form.kinds);
        push(6, form.suffixes[0]);
        push(7, form.suffixes[1]);
        push(8, form.suffixes[3]);
        push(9, form.suffixes[4]);
        for (prefix, template) in form.prefixes.iter().zip(10..) {
            push(template, *prefix);
        }
        push(14, 1);
    }
    if place.abs_diff(REACH) == 1 {
        push(15, form.suffixes[1]);
    }
}

/// The window around a token.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// The forms from two words to the left to two to the right.
    pub forms: [Form; PLACES],
    /// The tags of the last three tokens, the latest first; see [`tag_value`].
    pub tags: [u64; HISTORY],
}

/// The value for a position before the beginning of a sentence.
pub const NO_TAG: u64 = 1;

/// The value of a tag.
pub fn tag_value(tag: u16) -> u64 {
    u64::from(tag) + 2
}

/// Adds the ids that depend on several words or on tags.
pub fn context(window: &Window, out: &mut Vec<u64>) {
    let [_, left, here, right, right2] = &window.forms;
    let [last, before, third] = window.tags;
    let class = |form: &Form| u64::from(form.class);
    let both = last << 16 | before;
    let mut push = |template: u64, a: u64, b: u64| out.push(id(template, a, b));
    push(1, last, 0);
    push(2, both, 0);
    push(3, last, here.lower);
    push(4, last, right.lower);
    push(5, last, here.suffixes[2]);
    push(6, both, here.lower);
    push(7, last, class(right));
    push(8, left.lower, here.lower);
    push(9, here.lower, right.lower);
    push(10, class(here), class(right));
    push(11, last << 16 | class(here), class(right));
    push(12, here.suffixes[2], class(right));
    push(13, last, here.shape);
    push(14, before, here.lower);
    push(15, class(here), class(right) << 16 | class(right2));
    push(16, both, class(right));
    push(17, both, third);
    push(18, third, here.lower);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tagger::lexicon::Lexicon;

    #[test]
    fn no_two_ids_of_a_token_are_the_same_and_none_is_more_than_said() {
        let lexicon = Lexicon::of([].into_iter(), 1);
        let forms = ["walking", "1", "slowly", "Walking", "slowly"];
        let forms = forms.map(|word| Form::of(word, &lexicon));
        let mut ids = Vec::new();
        for (place, form) in forms.iter().enumerate() {
            word(place, form, &mut ids);
        }
        context(&Window { forms, tags: [NO_TAG; HISTORY] }, &mut ids);
        assert!(ids.len() <= MOST, "{}", ids.len());
        let distinct: std::collections::BTreeSet<u64> = ids.iter().copied().collect();
        assert_eq!(distinct.len(), ids.len());
    }
}
