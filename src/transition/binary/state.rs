//! What the binary system works on: stack, buffer, and what has been built.

use crate::transition::state::{Constituent, Dependents, Forest, clone_in_place};

/// A configuration of the binary system.
#[derive(Debug)]
pub struct BinaryState {
    pub(super) forest: Forest,
    pub(super) stack: Vec<u32>,
    pub(super) buffer: u32,
    pub(super) n_tokens: u32,
    pub(super) dependents: Dependents,
    pub(super) unaries: u32,
    pub(super) recent: [u32; 2],
    pub(super) steps: u32,
    pub(super) finished: bool,
}

clone_in_place!(BinaryState {
    forest,
    stack,
    buffer,
    n_tokens,
    dependents,
    unaries,
    recent,
    steps,
    finished
});

impl BinaryState {
    /// The item `n` below the top of the stack.
    pub fn item(&self, n: usize) -> Option<&Constituent> {
        self.stack.len().checked_sub(n + 1).map(|at| self.forest.node(self.stack[at]))
    }

    /// The items of the stack from the top down.
    pub fn items(&self) -> impl Iterator<Item = &Constituent> {
        self.stack.iter().rev().map(|&id| self.forest.node(id))
    }

    /// The position of the first token of the buffer.
    pub fn buffer(&self) -> u32 {
        self.buffer
    }

    /// How many tokens are still in the buffer.
    pub fn remaining(&self) -> u32 {
        self.n_tokens - self.buffer
    }

    /// The stack as ids of [`BinaryState::forest`], bottom first.
    pub fn stack(&self) -> &[u32] {
        &self.stack
    }

    /// Everything built so far.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }
}
