//! Which pieces a transformer reads together.
//!
//! A sentence with more pieces than there are positions is read in windows of whole words. A quarter of a window is
//! repeated in the next one; the hidden state of a word in this overlap is that of the window in which it is farther from
//! the edge. So the time is linear in the length of the sentence.

use std::ops::Range;

use crate::symbols::Sentence;

/// The most pieces of a word that are read; the pieces after them are left out.
const MOST_PIECES: usize = 64;

/// A row of the transformer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) piece: u32,
    /// Its position in the window.
    pub(super) position: u32,
    /// The token that it is part of; none for the marks at the ends of a window.
    pub(super) token: Option<usize>,
}

/// The rows of a sentence.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    pub(super) rows: Vec<Source>,
    /// The rows of each window.
    pub(super) windows: Vec<Range<usize>>,
    /// The rows of each hidden state: those of the padding before the sentence, its words, and the padding after it.
    pub(super) states: Vec<Range<usize>>,
}

impl Layout {
    /// The rows of a sentence for a transformer of so many positions, at least 4.
    pub(super) fn new(sentence: &Sentence, positions: usize) -> Self {
        let mut layout = Self::default();
        layout.read(sentence, positions);
        layout
    }

    /// The same in existing memory.
    pub(super) fn read(&mut self, sentence: &Sentence, positions: usize) {
        self.rows.clear();
        self.windows.clear();
        self.states.clear();
        let room = positions.saturating_sub(2).max(1);
        let pieces = |token: usize| {
            let pieces = sentence.pieces.of(token);
            &pieces[..pieces.len().min(MOST_PIECES).min(room)]
        };
        let n = sentence.len();
        // The padding before the sentence.
        self.states.push(0..1);
        let (mut first, mut done) = (0, 0);
        loop {
            let end = fit(first..n, room, |token| pieces(token).len());
            let next = if end < n {
                overlap(first..end, room / 4, |token| pieces(token).len())
            } else {
                n
            };
            // Words in the middle of the overlap belong to either window.
            let own = if end < n { done..next + (end - next) / 2 } else { done..n };
            self.window(sentence, first..end, &own, pieces);
            done = own.end;
            if end == n {
                break;
            }
            first = next;
        }
        // The padding after it.
        self.states.push(self.rows.len() - 1..self.rows.len());
    }

    /// Adds a window of tokens, whose hidden states are used if they are among its own.
    fn window<'s>(
        &mut self,
        sentence: &Sentence,
        tokens: Range<usize>,
        own: &Range<usize>,
        pieces: impl Fn(usize) -> &'s [u32],
    ) {
        let start = self.rows.len();
        let [open, close] = sentence.piece_marks;
        let row = |rows: &Vec<Source>, piece, token| Source {
            piece,
            position: (rows.len() - start) as u32,
            token,
        };
        self.rows.push(row(&self.rows, open, None));
        for token in tokens {
            let before = self.rows.len();
            for &piece in pieces(token) {
                self.rows.push(row(&self.rows, piece, Some(token)));
            }
            if own.contains(&token) {
                self.states.push(before..self.rows.len());
            }
        }
        self.rows.push(row(&self.rows, close, None));
        self.windows.push(start..self.rows.len());
    }
}

/// The end of the longest run of tokens from the first one on whose pieces fit; it has at least one token.
fn fit(tokens: Range<usize>, room: usize, pieces: impl Fn(usize) -> usize) -> usize {
    let mut used = 0;
    let does_fit = |&token: &usize| {
        used += pieces(token);
        used <= room
    };
    let n = tokens.clone().take_while(does_fit).count();
    tokens.end.min(tokens.start + n.max(1))
}

/// The first token of the longest run at the end of some tokens whose pieces fit; after the first token.
fn overlap(tokens: Range<usize>, room: usize, pieces: impl Fn(usize) -> usize) -> usize {
    let mut used = 0;
    let does_fit = |&token: &usize| {
        used += pieces(token);
        used <= room
    };
    let n = (tokens.start + 1..tokens.end).rev().take_while(does_fit).count();
    tokens.end - n
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sentence whose words have so many pieces each.
    fn sentence(pieces: &[usize]) -> Sentence {
        let mut sentence = Sentence { piece_marks: [1, 2], ..Sentence::default() };
        for &n in pieces {
            sentence.words.push(5);
            sentence.pieces.push(|out| out.extend((0..n as u32).map(|at| 10 + at)));
        }
        sentence
    }

    #[test]
    fn short_sentences_have_one_window() {
        let layout = Layout::new(&sentence(&[2, 1]), 5);
        assert_eq!((layout.windows.len(), layout.windows[0].clone()), (1, 0..5));
        assert_eq!(layout.states, [0..1, 1..3, 3..4, 4..5]);
        let pieces: Vec<u32> = layout.rows.iter().map(|row| row.piece).collect();
        assert_eq!(pieces, [1, 10, 11, 10, 2]);
        let tokens: Vec<_> = layout.rows.iter().map(|row| row.token).collect();
        assert_eq!(tokens, [None, Some(0), Some(0), Some(1), None]);
        assert_eq!(Layout::new(&sentence(&[]), 5).states, [0..1, 1..2]);
    }

    /// Every word has a state, in order, in a window that fits, and words of long sentences have context on both sides.
    #[test]
    fn long_sentences_have_overlapping_windows() {
        for (words, positions) in [(200, 34), (57, 10), (40, 4), (9, 3)] {
            let lengths: Vec<usize> = (0..words).map(|at| 1 + at % 5).collect();
            let layout = Layout::new(&sentence(&lengths), positions);
            assert_eq!(layout.states.len(), words + 2);
            assert!(layout.windows.iter().all(|window| window.len() <= positions.max(3)));
            for (token, rows) in layout.states[1..=words].iter().enumerate() {
                assert!(!rows.is_empty());
                assert!(layout.rows[rows.clone()].iter().all(|row| row.token == Some(token)));
            }
            let rows = layout.rows.len();
            assert!(rows < 2 * lengths.iter().sum::<usize>() + 2 * layout.windows.len());
            if positions == 34 {
                for rows in &layout.states[20..words - 20] {
                    let window =
                        layout.windows.iter().find(|window| window.contains(&rows.start)).unwrap();
                    assert!(rows.start - window.start >= 3 && window.end - rows.end >= 3);
                }
            }
        }
    }
}
