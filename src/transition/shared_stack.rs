//! Stacks that share what lies below their tops: tree-structured stacks (Tomita 1985, chapter 3). A copy of a stack is
//! two numbers, whatever its height, so the hypotheses of a search can be copied at every step.

/// The cells of stacks of `T`.
#[derive(Debug, Clone)]
pub struct Cells<T>(Vec<Cell<T>>);

/// An item of a stack, and the cell below it.
#[derive(Debug, Clone, Copy)]
pub struct Cell<T> {
    item: T,
    below: u32,
}

/// A stack: its topmost cell, if it has a height, and its height.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stack {
    top: u32,
    height: u32,
}

impl Stack {
    /// The number of items.
    pub fn len(self) -> usize {
        self.height as usize
    }

    /// Whether there is no item.
    pub fn is_empty(self) -> bool {
        self.height == 0
    }
}

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Cells<T> {
    /// No cells, with room for some.
    pub fn with_capacity(cells: usize) -> Self {
        Self(Vec::with_capacity(cells))
    }

    /// Removes all cells.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds an item to a stack.
    pub fn push(&mut self, stack: &mut Stack, item: T) {
        let below = std::mem::replace(&mut stack.top, self.0.len() as u32);
        self.0.push(Cell { item, below });
        stack.height += 1;
    }

    /// Removes the topmost item of a stack. Its cell remains, for the stacks that share it.
    pub fn pop(&self, stack: &mut Stack) -> Option<T> {
        let item = self.last(*stack)?;
        *stack = Stack { top: self.0[stack.top as usize].below, height: stack.height - 1 };
        Some(item)
    }

    /// Removes items until `height` are left.
    pub fn truncate(&self, stack: &mut Stack, height: usize) {
        while stack.len() > height {
            self.pop(stack);
        }
    }

    /// The topmost item of a stack.
    pub fn last(&self, stack: Stack) -> Option<T> {
        (stack.height > 0).then(|| self.0[stack.top as usize].item)
    }

    /// The items of a stack.
    pub fn view(&self, stack: Stack) -> StackView<'_, T> {
        StackView::Shared(&self.0, stack)
    }
}

/// The items of a stack.
#[derive(Debug, Clone, Copy)]
pub enum StackView<'a, T> {
    /// In cells.
    Shared(&'a [Cell<T>], Stack),
    /// In a list, from bottom to top.
    Listed(&'a [T]),
}

impl<'a, T: Copy> StackView<'a, T> {
    /// The number of items.
    pub fn len(self) -> usize {
        match self {
            Self::Shared(_, stack) => stack.len(),
            Self::Listed(list) => list.len(),
        }
    }

    /// Whether there is no item.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The item `n` below the top; the time is linear in `n`.
    pub fn nth(self, n: usize) -> Option<T> {
        match self {
            Self::Shared(cells, stack) => (n < stack.len()).then(|| {
                let mut cell = &cells[stack.top as usize];
                for _ in 0..n {
                    cell = &cells[cell.below as usize];
                }
                cell.item
            }),
            Self::Listed(list) => list.len().checked_sub(n + 1).map(|at| list[at]),
        }
    }

    /// The topmost item.
    pub fn last(self) -> Option<T> {
        self.nth(0)
    }

    /// The items from the top down.
    pub fn from_top(self) -> FromTop<'a, T> {
        FromTop(self)
    }

    /// The items from bottom to top.
    pub fn to_vec(self) -> Vec<T> {
        let mut items: Vec<T> = self.from_top().collect();
        items.reverse();
        items
    }
}

/// The items of a stack from the top down.
#[derive(Debug, Clone)]
pub struct FromTop<'a, T>(StackView<'a, T>);

impl<T: Copy> Iterator for FromTop<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match &mut self.0 {
            StackView::Shared(cells, stack) => {
                let Cell { item, below } = *cells.get(stack.top as usize)?;
                let height = stack.height.checked_sub(1)?;
                *stack = Stack { top: below, height };
                Some(item)
            }
            StackView::Listed(list) => {
                let (&item, rest) = list.split_last()?;
                *list = rest;
                Some(item)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_what_is_below_and_grows_by_itself() {
        let (mut cells, mut one) = (Cells::default(), Stack::default());
        assert_eq!((cells.last(one), cells.pop(&mut one)), (None, None));
        cells.push(&mut one, 'a');
        cells.push(&mut one, 'b');
        let mut other = one;
        assert_eq!(cells.pop(&mut other), Some('b'));
        cells.push(&mut other, 'c');
        cells.push(&mut one, 'd');
        assert_eq!(cells.view(one).to_vec(), ['a', 'b', 'd']);
        assert_eq!(cells.view(other).to_vec(), ['a', 'c']);
        let (view, list) = (cells.view(one), ['a', 'b', 'd']);
        for view in [view, StackView::Listed(&list)] {
            assert_eq!((view.nth(2), view.nth(3), view.len()), (Some('a'), None, 3));
            assert!(view.from_top().eq(['d', 'b', 'a']));
        }
        cells.truncate(&mut one, 1);
        assert!(cells.view(one).from_top().eq(['a']));
    }
}
