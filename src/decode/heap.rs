//! Binary heaps whose order depends on data outside their items.

/// Restores the heap property below position `at`; `above(a, b)` is true if `a` belongs above `b`.
pub(super) fn sift_down<T>(heap: &mut [T], mut at: usize, above: &impl Fn(&T, &T) -> bool) {
    loop {
        let children = (2 * at + 1..heap.len()).take(2);
        let top = children.reduce(|a, b| if above(&heap[b], &heap[a]) { b } else { a });
        match top {
            Some(child) if above(&heap[child], &heap[at]) => {
                heap.swap(child, at);
                at = child;
            }
            _ => return,
        }
    }
}

/// Reorders a list into a heap.
pub(super) fn heapify<T>(heap: &mut [T], above: &impl Fn(&T, &T) -> bool) {
    for at in (0..heap.len() / 2).rev() {
        sift_down(heap, at, above);
    }
}

/// Adds an item.
pub(super) fn push<T>(heap: &mut Vec<T>, item: T, above: &impl Fn(&T, &T) -> bool) {
    let mut at = heap.len();
    heap.push(item);
    while at > 0 && above(&heap[at], &heap[(at - 1) / 2]) {
        heap.swap(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

/// Removes the top item.
pub(super) fn pop<T>(heap: &mut Vec<T>, above: &impl Fn(&T, &T) -> bool) -> Option<T> {
    let last = heap.len().checked_sub(1)?;
    heap.swap(0, last);
    let top = heap.pop();
    sift_down(heap, 0, above);
    top
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_out_in_order() {
        let above = |a: &u32, b: &u32| a > b;
        let mut heap = vec![3, 1, 4, 1, 5];
        heapify(&mut heap, &above);
        push(&mut heap, 9, &above);
        let popped: Vec<u32> = std::iter::from_fn(|| pop(&mut heap, &above)).collect();
        assert_eq!(popped, [9, 5, 4, 3, 1, 1]);
    }
}
