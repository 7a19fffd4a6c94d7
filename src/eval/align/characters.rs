//! Which characters of two texts are the same ones.

use std::collections::HashMap;

/// So many equal characters end a difference between the texts.
const ANCHOR: usize = 8;
/// How far the first search for them looks.
const NEAR: usize = 32;
/// How far the last one does; what has no anchor there has no counterpart.
const FAR: usize = 1 << 14;

/// Equal characters: where they begin on either side, and how many they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EqualRun {
    pub(super) gold: usize,
    pub(super) test: usize,
    pub(super) length: usize,
}

/// Aligns equal characters; linear in the length of both texts.
pub(super) fn aligned(gold: &[char], test: &[char]) -> Vec<EqualRun> {
    let (mut runs, mut at): (Vec<EqualRun>, _) = (Vec::new(), (0, 0));
    while at.0 < gold.len() && at.1 < test.len() {
        let length = gold[at.0..].iter().zip(&test[at.1..]).take_while(|(a, b)| a == b).count();
        if length > 0 {
            runs.push(EqualRun { gold: at.0, test: at.1, length });
            at = (at.0 + length, at.1 + length);
            continue;
        }
        at = next_anchor(gold, test, at);
        at = extended(gold, test, at, &mut runs);
    }
    runs
}

/// Where what follows a difference begins, if it is extended backwards; from the equal characters before the difference it
/// takes a few that only happen to be equal to its first.
fn extended(
    gold: &[char],
    test: &[char],
    (mut g, mut t): (usize, usize),
    runs: &mut Vec<EqualRun>,
) -> (usize, usize) {
    let mut taken = 0;
    while g > 0 && t > 0 && gold[g - 1] == test[t - 1] {
        let end = |run: &EqualRun| (run.gold + run.length, run.test + run.length);
        let (gold_end, test_end) = runs.last().map_or((0, 0), end);
        if g == gold_end || t == test_end {
            if taken == ANCHOR {
                break;
            }
            taken += 1;
            let Some(run) = runs.last_mut() else { break };
            run.length -= 1;
            if run.length == 0 {
                runs.pop();
            }
        }
        (g, t) = (g - 1, t - 1);
    }
    (g, t)
}

/// The nearest place after a difference at which both sides go on alike. Each search looks twice as far as the one before,
/// so that it costs no more than what is skipped.
fn next_anchor(gold: &[char], test: &[char], at: (usize, usize)) -> (usize, usize) {
    let mut reach = NEAR;
    loop {
        let near = |text: &[char], at: usize| at..text.len().min(at + reach);
        let (of_gold, of_test) = (near(gold, at.0), near(test, at.1));
        // The end of both texts is an anchor too, and near it a shorter one is.
        let length = ANCHOR.min(gold.len() - at.0).min(test.len() - at.1);
        let mut first: HashMap<&[char], usize> = HashMap::new();
        for from in of_gold.clone() {
            if let Some(key) = gold.get(from..from + length) {
                first.entry(key).or_insert(from);
            }
        }
        let found = of_test.clone().filter_map(|from| {
            let key = test.get(from..from + length)?;
            Some((*first.get(key)?, from))
        });
        if let Some(found) = found.min_by_key(|&(g, t)| (g - at.0 + t - at.1, g)) {
            return found;
        }
        let is_all = of_gold.end == gold.len() && of_test.end == test.len();
        if is_all || reach >= FAR {
            return (of_gold.end, of_test.end);
        }
        reach *= 2;
    }
}
