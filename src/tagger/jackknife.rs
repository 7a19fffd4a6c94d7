//! Jackknifing: training sentences are tagged by taggers that were not trained on them.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Accuracy, Tagger, TaggerWorker};
use crate::classifier::Fit;
use crate::error::counted;
use crate::observer::Quiet;
use crate::parallel;
use crate::tree::{Token, remove_tags};
use crate::{Error, Result};

/// Divides `n` sentences into `parts` consecutive ranges whose sizes differ by at most one.
pub fn parts(n: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.clamp(1, n.max(1));
    (0..parts).map(|part| n * part / parts..n * (part + 1) / parts).collect()
}

/// Tags each of `n_parts` parts of the sentences with a tagger that `fit` trains on the others; also
/// returns the accuracy. The parts are processed in parallel; each has the same seed.
///
/// # Errors
/// When there are too few sentences for the parts, or `fit` fails.
pub fn jackknife(
    sentences: &[&[Token]],
    n_parts: u32,
    fit: &Fit<'_>,
    train: impl Fn(&[&[Token]], &Fit<'_>) -> Result<Box<dyn Tagger>> + Sync,
) -> Result<(Vec<Vec<Token>>, Accuracy)> {
    if sentences.len() < n_parts as usize {
        let n = sentences.len();
        let advice = match n {
            0 | 1 => "set it to 0, or give more trees".to_owned(),
            2 => "set it to 2, or give more trees".to_owned(),
            _ => format!("give a number from 2 to {n}, or more trees"),
        };
        let sentences = counted(n as u64, "sentence");
        let problem = format!("{sentences} cannot be divided into {n_parts} parts: {advice}");
        return Err(Error::config("jackknife", problem));
    }
    let ranges = parts(sentences.len(), n_parts as usize);
    let total = ranges.len();
    let done = AtomicUsize::new(0);
    let tagged: Vec<Result<(Vec<Vec<Token>>, Accuracy)>> = parallel::map_owned(&ranges, |range| {
        let others: Vec<&[Token]> =
            sentences[..range.start].iter().chain(&sentences[range.end..]).copied().collect();
        let quiet = Quiet(fit.observer);
        let tagger = train(&others, &Fit { observer: &quiet, checkpoint: None, ..*fit })?;
        let mut worker = TaggerWorker::new(&*tagger);
        let mut accuracy = Accuracy::default();
        let tag = |gold: &&[Token]| {
            let mut tokens = gold.to_vec();
            remove_tags(&mut tokens);
            worker.tag(&mut tokens);
            accuracy += Accuracy::of(gold, &tokens, |word| tagger.lexicon().knows(word));
            tokens
        };
        let tagged = sentences[range.clone()].iter().map(tag).collect();
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        fit.step(done as f64 / total as f64, &format!("tagged part {done} of {total}"));
        Ok((tagged, accuracy))
    });
    let mut all = Vec::with_capacity(sentences.len());
    let mut accuracy = Accuracy::default();
    for part in tagged {
        let (tagged, right) = part?;
        all.extend(tagged);
        accuracy += right;
    }
    Ok((all, accuracy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_and_are_of_one_size() {
        assert_eq!(parts(10, 3), [0..3, 3..6, 6..10]);
        assert_eq!(parts(2, 10), [0..1, 1..2]);
        assert_eq!(parts(0, 10), vec![0..0]);
    }

    #[test]
    fn too_few_sentences_say_how_many_parts_there_can_be() {
        let sentence = [Token::new("a", "A")];
        let refused = |n: usize| {
            let sentences = vec![&sentence[..]; n];
            let never = |_: &[&[Token]], _: &Fit<'_>| Err(Error::Stopped);
            jackknife(&sentences, 5, &Fit::quiet(1), never).map(drop).unwrap_err().to_string()
        };
        let says =
            "jackknife: 1 sentence cannot be divided into 5 parts: set it to 0, or give more trees";
        assert_eq!(refused(1), says);
        assert!(refused(2).ends_with(": set it to 2, or give more trees"));
        assert!(refused(4).ends_with(": give a number from 2 to 4, or more trees"));
    }
}
