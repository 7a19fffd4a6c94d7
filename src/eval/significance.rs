//! Significance tests: whether one parser is better than another on the same sentences.
//!
//! - Stratified shuffling (approximate randomization), as in Bikel's Randomized Parsing Evaluation
//!   Comparator. Under the null hypothesis that the parsers do not differ, swapping their counts for a
//!   sentence changes nothing. Each shuffle swaps every sentence with probability 1/2. If nc of nt shuffles
//!   give a difference at least as large as the observed one, in either direction, p = (nc + 1) / (nt + 1).
//! - A paired bootstrap: sentences are sampled with replacement; the 2.5 % and 97.5 % quantiles of the
//!   difference are a 95 % confidence interval.
//!
//! Each block of shuffles has its own stream of random numbers, so the result does not depend on the number
//! of threads.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use serde::Serialize;

use crate::eval::Counts;
use crate::parallel;
use crate::sort::sort_by;

/// The number of shuffles or bootstrap samples that share one stream of random numbers.
const BLOCK: u64 = 1024;
/// The first stream of the bootstrap; those of shuffling begin at 0.
const BOOTSTRAP_STREAMS: u64 = 1 << 62;
/// Differences within this tolerance, in percentage points, are equal: they differ only by rounding.
const ROUNDING: f64 = 1e-9;

/// A value for each of the three scores.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Measures {
    /// Labelled precision.
    pub precision: f64,
    /// Labelled recall.
    pub recall: f64,
    /// F1.
    pub f1: f64,
}

impl Measures {
    /// Returns the scores of some brackets, in percent.
    pub fn of(counts: &Counts) -> Self {
        Self { precision: counts.precision(), recall: counts.recall(), f1: counts.f1() }
    }

    /// Returns the differences `self` − `other`.
    pub fn less(self, other: Self) -> Self {
        Self {
            precision: self.precision - other.precision,
            recall: self.recall - other.recall,
            f1: self.f1 - other.f1,
        }
    }
}

/// The maximum number of shuffles.
pub const MAX_SHUFFLES: u64 = 1_000_000_000;
/// The maximum number of bootstrap samples: the difference of each is kept in memory.
pub const MAX_RESAMPLES: u64 = 10_000_000;

/// Settings of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The number of shuffles for the p-values.
    pub shuffles: u64,
    /// The number of bootstrap samples for the confidence interval; at least 1.
    pub resamples: u64,
    /// The random seed of both.
    pub seed: u64,
}

impl Default for Settings {
    /// 10,000 shuffles, as in Bikel's comparator, and as many bootstrap samples.
    fn default() -> Self {
        Self { shuffles: 10_000, resamples: 10_000, seed: 1 }
    }
}

/// The comparison of two parsers, A and B, on the same sentences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The number of sentences compared.
    pub sentences: u64,
    /// The scores of A and of B, in percent.
    pub scores: [Measures; 2],
    /// The two-sided p-values: the probability of a difference at least as large if the parsers do not differ.
    pub p: Measures,
    /// The 95 % confidence interval of the F1 difference B − A, in percentage points.
    pub f1_interval: [f64; 2],
    /// The number of sentences on which A and B, respectively, have the higher F1.
    pub better: [u64; 2],
}

impl Comparison {
    /// Returns the differences B − A, in percentage points.
    pub fn difference(&self) -> Measures {
        self.scores[1].less(self.scores[0])
    }

    /// Returns the number of sentences on which both have the same F1.
    pub fn equal(&self) -> u64 {
        self.sentences - self.better[0] - self.better[1]
    }
}

/// Compares two parsers, given the bracket counts of A and of B for each sentence.
///
/// ```
/// use srparse::eval::Counts;
/// use srparse::eval::significance::{Settings, compare};
/// let good = Counts { gold: 4, gold_matched: 4, test: 4, test_matched: 4 };
/// let poor = Counts { gold_matched: 2, test_matched: 2, ..good };
/// let found = compare(&[[poor, good]; 20], &Settings::default());
/// assert!(found.difference().f1 == 50.0 && found.p.f1 < 0.001);
/// ```
pub fn compare(sentences: &[[Counts; 2]], settings: &Settings) -> Comparison {
    let total = |side: usize| sentences.iter().fold(Counts::default(), |sum, s| sum + s[side]);
    let totals = [total(0), total(1)];
    let mut better = [0; 2];
    for [a, b] in sentences {
        let difference = b.f1() - a.f1();
        better[0] += u64::from(difference < -ROUNDING);
        better[1] += u64::from(difference > ROUNDING);
    }
    let as_extreme = shuffle(sentences, totals, settings);
    let p = |count: u64| (count + 1) as f64 / (settings.shuffles + 1) as f64;
    Comparison {
        sentences: sentences.len() as u64,
        scores: totals.each_ref().map(Measures::of),
        p: Measures { precision: p(as_extreme[0]), recall: p(as_extreme[1]), f1: p(as_extreme[2]) },
        f1_interval: bootstrap(sentences, settings),
        better,
    }
}

/// Corrects the p-values of several tests, in any order, by the method of Holm (1979), "A simple sequentially rejective
/// multiple test procedure": whichever null hypotheses are true, the probability that any corrected p of theirs is at most
/// α is at most α.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut corrected = vec![0.0; p.len()];
    let mut least = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        least = least.max(p[at] * (p.len() - rank) as f64).min(1.0);
        corrected[at] = least;
    }
    corrected
}

/// The change of the totals when the counts of a sentence are swapped: what A gains and B loses.
#[derive(Debug, Clone, Copy, Default)]
struct Swap {
    gold: i64,
    gold_matched: i64,
    test: i64,
    test_matched: i64,
}

impl Swap {
    fn of([a, b]: &[Counts; 2]) -> Self {
        let gain = |b: u64, a: u64| b.wrapping_sub(a) as i64;
        Self {
            gold: gain(b.gold, a.gold),
            gold_matched: gain(b.gold_matched, a.gold_matched),
            test: gain(b.test, a.test),
            test_matched: gain(b.test_matched, a.test_matched),
        }
    }

    /// Returns the differences B − A after this change of the totals.
    fn difference(self, [a, b]: [Counts; 2]) -> Measures {
        let moved = |total: Counts, sign: i64| Counts {
            gold: total.gold.wrapping_add_signed(sign * self.gold),
            gold_matched: total.gold_matched.wrapping_add_signed(sign * self.gold_matched),
            test: total.test.wrapping_add_signed(sign * self.test),
            test_matched: total.test_matched.wrapping_add_signed(sign * self.test_matched),
        };
        Measures::of(&moved(b, -1)).less(Measures::of(&moved(a, 1)))
    }
}

/// Returns the number of shuffles in which precision, recall and F1 differ at least as much as observed.
fn shuffle(sentences: &[[Counts; 2]], totals: [Counts; 2], settings: &Settings) -> [u64; 3] {
    // Swapping equal counts changes nothing.
    let swaps: Vec<Swap> = sentences.iter().filter(|[a, b]| a != b).map(Swap::of).collect();
    let observed = Swap::default().difference(totals);
    let count = |rng: &mut ChaCha8Rng, shuffles: u64| {
        let mut counts = [0; 3];
        for _ in 0..shuffles {
            let found = random_swaps(&swaps, rng).difference(totals);
            let extreme = |found: f64, observed: f64| found.abs() >= observed.abs() - ROUNDING;
            counts[0] += u64::from(extreme(found.precision, observed.precision));
            counts[1] += u64::from(extreme(found.recall, observed.recall));
            counts[2] += u64::from(extreme(found.f1, observed.f1));
        }
        counts
    };
    blocks(settings.shuffles, settings.seed, 0, count)
        .into_iter()
        .fold([0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]])
}

/// Returns the sum of the swaps, each applied with probability 1/2.
fn random_swaps(swaps: &[Swap], rng: &mut ChaCha8Rng) -> Swap {
    let mut sum = Swap::default();
    for chunk in swaps.chunks(64) {
        let mut coins = rng.next_u64();
        for swap in chunk {
            // All ones or zero: a branch on a coin would be mispredicted half the time.
            let taken = ((coins & 1) as i64).wrapping_neg();
            coins >>= 1;
            sum.gold += swap.gold & taken;
            sum.gold_matched += swap.gold_matched & taken;
            sum.test += swap.test & taken;
            sum.test_matched += swap.test_matched & taken;
        }
    }
    sum
}

/// Returns the 2.5 % and 97.5 % quantiles of the F1 difference over bootstrap samples of the sentences.
fn bootstrap(sentences: &[[Counts; 2]], settings: &Settings) -> [f64; 2] {
    let resample = |rng: &mut ChaCha8Rng| {
        let mut totals = [Counts::default(); 2];
        for _ in 0..sentences.len() {
            let [a, b] = sentences[rng.random_range(0..sentences.len())];
            totals[0] += a;
            totals[1] += b;
        }
        totals[1].f1() - totals[0].f1()
    };
    let resamples = |rng: &mut ChaCha8Rng, n| (0..n).map(|_| resample(rng)).collect::<Vec<f64>>();
    let n = settings.resamples.max(1);
    let mut differences = blocks(n, settings.seed, BOOTSTRAP_STREAMS, resamples).concat();
    sort_by(&mut differences, f64::total_cmp);
    let last = differences.len() - 1;
    let tail = (differences.len() as f64 * 0.025) as usize;
    [differences[tail.min(last)], differences[last - tail.min(last)]]
}

/// Runs `n` trials in blocks, each with its own random numbers, and returns their results.
fn blocks<T: Send>(
    n: u64,
    seed: u64,
    first_stream: u64,
    trials: impl Fn(&mut ChaCha8Rng, u64) -> T + Sync,
) -> Vec<T> {
    parallel::map_range(n.div_ceil(BLOCK) as usize, |block| {
        let block = block as u64;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(first_stream + block);
        trials(&mut rng, BLOCK.min(n - block * BLOCK))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_corrected_from_the_least() {
        let corrected = holm(&[0.03, 0.01, 0.04, 0.5]);
        let expected = [0.09, 0.04, 0.09, 0.5];
        assert!(corrected.iter().zip(expected).all(|(p, expected)| (p - expected).abs() < 1e-12));
        assert_eq!((holm(&[0.6, 0.7]), holm(&[])), (vec![1.0, 1.0], vec![]));
    }

    fn brackets(gold: u64, test: u64, matched: u64) -> Counts {
        Counts { gold, gold_matched: matched, test, test_matched: matched }
    }

    /// Four sentences whose counts differ and one whose counts do not.
    fn small() -> [[Counts; 2]; 5] {
        [
            [brackets(5, 5, 3), brackets(5, 6, 5)],
            [brackets(4, 4, 2), brackets(4, 3, 3)],
            [brackets(7, 8, 6), brackets(7, 7, 5)],
            [brackets(3, 3, 1), brackets(3, 3, 2)],
            [brackets(6, 6, 6), brackets(6, 6, 6)],
        ]
    }

    fn seeded(seed: u64) -> Settings {
        Settings { shuffles: 200_000, resamples: 2000, seed }
    }

    /// The share of all swaps with at least the observed difference, by doing every one of them.
    fn by_hand(sentences: &[[Counts; 2]], measure: fn(Measures) -> f64) -> f64 {
        let difference = |swapped: u32| {
            let mut totals = [Counts::default(); 2];
            for (at, &[a, b]) in sentences.iter().enumerate() {
                let swap = swapped >> at & 1 == 1;
                totals[0] += if swap { b } else { a };
                totals[1] += if swap { a } else { b };
            }
            (measure(Measures::of(&totals[1])) - measure(Measures::of(&totals[0]))).abs()
        };
        let all = 1u32 << sentences.len();
        let extreme = (0..all).filter(|&swapped| difference(swapped) >= difference(0) - 1e-9);
        extreme.count() as f64 / f64::from(all)
    }

    #[test]
    fn p_values_come_near_the_shares_of_all_swaps() {
        let found = compare(&small(), &seeded(1));
        let exact = [|m: Measures| m.precision, |m: Measures| m.recall, |m: Measures| m.f1]
            .map(|measure| by_hand(&small(), measure));
        // By hand: matched brackets differ by 2, 1, -1 and 1 of 25, 3 in all. Of the sums ±2 ±1 ±1 ±1
        // one is 5, three are 3, and as many are -5 and -3: 8 of 16.
        assert_eq!(exact[1], 0.5);
        for (p, exact) in [found.p.precision, found.p.recall, found.p.f1].into_iter().zip(exact) {
            // Five standard deviations.
            let bound = 5.0 * (exact * (1.0 - exact) / 200_000.0).sqrt();
            assert!((p - exact).abs() < bound, "{p} for {exact}");
        }
    }

    #[test]
    fn the_other_way_round_gives_the_same_p_and_the_opposite_difference() {
        let swapped = small().map(|[a, b]| [b, a]);
        let (one, other) = (compare(&small(), &seeded(3)), compare(&swapped, &seeded(3)));
        assert_eq!(one.p, other.p);
        assert_eq!(one.difference().f1, -other.difference().f1);
        let [low, high] = other.f1_interval;
        assert_eq!(one.f1_interval, [-high, -low]);
        assert_eq!((one.better, one.equal()), ([1, 3], 1));
        assert_eq!((other.better, other.equal()), ([3, 1], 1));
    }

    #[test]
    fn identical_systems_have_p_1_and_an_interval_of_0() {
        let same = small().map(|[a, _]| [a, a]);
        let found = compare(&same, &seeded(1));
        assert_eq!(found.p, Measures { precision: 1.0, recall: 1.0, f1: 1.0 });
        assert_eq!((found.f1_interval, found.equal()), ([0.0, 0.0], 5));
    }

    #[test]
    fn a_difference_on_every_sentence_is_as_rare_as_can_be() {
        let found = compare(&[[brackets(5, 5, 3), brackets(5, 5, 4)]; 40], &Settings::default());
        assert_eq!(found.p.f1, 1.0 / 10_001.0);
        assert_eq!(found.f1_interval, [found.difference().f1; 2]);
    }

    #[test]
    fn threads_change_nothing_and_seeds_do() {
        let many: Vec<[Counts; 2]> = (0..300u64)
            .map(|at| [brackets(20, 20, 10 + at * 7 % 9), brackets(20, 20, 10 + at * 5 % 9)])
            .collect();
        let on = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let settings = Settings { shuffles: 5000, resamples: 5000, seed };
            pool.install(|| compare(&many, &settings))
        };
        assert_eq!(on(1, 1), on(3, 1));
        assert_ne!(on(1, 1), on(1, 2));
    }

    #[test]
    fn the_interval_of_one_differing_sentence_follows_the_binomial() {
        // A sentence of ten is better by 10 of 100 brackets; how often it is drawn is binomial with
        // mean 1: 0 times with probability 0.35, at most 3 times with 0.987.
        let mut sentences = [[brackets(10, 10, 0); 2]; 10];
        sentences[4][1] = brackets(10, 10, 10);
        let found = compare(&sentences, &seeded(1));
        assert_eq!(found.f1_interval, [0.0, 30.0]);
    }

    #[test]
    fn nothing_to_compare_is_no_difference() {
        let found = compare(&[], &Settings { resamples: 0, ..Settings::default() });
        assert_eq!((found.p.f1, found.f1_interval), (1.0, [0.0, 0.0]));
    }
}
