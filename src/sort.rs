//! Sorting where it is not hot.
//!
//! The standard library compiles its sort once for each comparison, 6 to 10 kB of code every time. These functions
//! compile it once for each type of item, at the cost of an indirect call for each comparison.

use std::cmp::Ordering;

/// Sorts; the order of equal items is not defined.
pub(crate) fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    sort(items, &compare);
}

/// Sorts; equal items stay in order.
pub(crate) fn stable_sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    stable_sort(items, &compare);
}

/// Sorts by a key; the order of items with equal keys is not defined.
pub(crate) fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort(items, &|a, b| key(a).cmp(&key(b)));
}

/// Sorts by a key; items with equal keys stay in order.
pub(crate) fn stable_sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    stable_sort(items, &|a, b| key(a).cmp(&key(b)));
}

#[inline(never)]
fn sort<T>(items: &mut [T], compare: &dyn Fn(&T, &T) -> Ordering) {
    items.sort_unstable_by(compare);
}

#[inline(never)]
fn stable_sort<T>(items: &mut [T], compare: &dyn Fn(&T, &T) -> Ordering) {
    items.sort_by(compare);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_sorted_by_keys_and_equals_stay_in_order() {
        let mut items: Vec<u32> = (0..200).map(|at| at * 7919 % 200).collect();
        let unsorted = items.clone();
        stable_sort_by_key(&mut items, |item| item / 50);
        let quarter = |at: u32| unsorted.iter().copied().filter(move |item| item / 50 == at);
        assert_eq!(items, (0..4).flat_map(quarter).collect::<Vec<_>>());
        sort_by_key(&mut items, |&item| std::cmp::Reverse(item));
        assert_eq!(items, (0..200).rev().collect::<Vec<_>>());
        sort_by(&mut items, u32::cmp);
        assert_eq!(items, (0..200).collect::<Vec<_>>());
    }
}
