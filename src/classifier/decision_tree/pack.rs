//! Packing a grown tree into the stored form.

use std::rc::Rc;

use super::DecisionTree;
use super::codes::Codes;
use super::grow::{Node, Test};
use super::table::Coding;
use super::tree::{AMONG, AT_MOST, FIRST, HEAD, LEAF, NODE, UNIT, WHICH, slot_of};
use crate::sort::sort_by_key;
use crate::{Error, Result};

/// The distribution of a node, for the nodes below it.
#[derive(Clone)]
struct Above {
    /// The probability of every class.
    p: Rc<[f64]>,
    /// The full distribution that those below refer to.
    full: u32,
    /// The classes seen at the first node below the one with the full distribution; `None` for that node
    /// itself.
    seen: Option<Rc<[u16]>>,
    /// The weight of the full distribution after backing off.
    mass: f64,
}

struct Packer<'a> {
    codings: &'a [Coding],
    nodes: &'a [Node],
    /// The number of leaves below each node.
    leaves: Vec<usize>,
    n_classes: usize,
    backoff: f64,
    packed: Vec<u32>,
    tables: Vec<u32>,
    rows: Vec<u32>,
    full: Vec<f32>,
}

impl DecisionTree {
    /// Packs the nodes that are reachable from the first.
    pub(super) fn pack(
        codings: &[Coding],
        nodes: &[Node],
        n_classes: usize,
        backoff: f64,
    ) -> Result<Self> {
        let mut leaves = vec![0; nodes.len()];
        let mut in_sets = vec![false; codings.len()];
        for (at, node) in nodes.iter().enumerate().rev() {
            leaves[at] = node.children().map(|child| leaves[child]).sum::<usize>().max(1);
            if let Some((column, Test::Among { .. })) = &node.test {
                in_sets[usize::from(*column)] = true;
            }
        }
        let mut packer = Packer {
            codings,
            nodes,
            leaves,
            n_classes,
            backoff,
            packed: Vec::new(),
            tables: Vec::new(),
            rows: Vec::new(),
            full: Vec::new(),
        };
        packer.pack()?;
        let Packer { packed, tables, rows, full, .. } = packer;
        if [packed.len(), tables.len(), rows.len()].iter().any(|&len| len > u32::MAX as usize) {
            return Err(Error::Unfit(
                "the decision tree is too large: raise min_cases or min_leaf".into(),
            ));
        }
        Ok(Self {
            n_classes,
            nodes: packed.into(),
            tables: tables.into(),
            codes: Codes::new(codings, &in_sets),
            rows: rows.into(),
            full: full.into(),
        })
    }
}

impl Packer<'_> {
    fn pack(&mut self) -> Result<()> {
        let nowhere = Above { p: vec![0.0; self.n_classes].into(), full: 0, seen: None, mass: 0.0 };
        self.packed.resize(NODE, 0);
        let mut open = vec![(0, 0, nowhere)];
        while let Some((at, place, above)) = open.pop() {
            let here = self.below(at, &above);
            let mut children = Vec::new();
            let words = match &self.nodes[at].test {
                None => [LEAF << 16, 0, 0, self.row(&here)],
                Some((_, Test::Equal(_))) => self.list(at, here, &mut children)?,
                Some((column, test)) => {
                    children.extend(self.nodes[at].children().map(|child| (child, here.clone())));
                    self.inner(*column, test, &here)?
                }
            };
            self.packed[NODE * place..][..NODE].copy_from_slice(&words);
            let first = self.next_place() as usize;
            self.packed.resize(self.packed.len() + NODE * children.len(), 0);
            let start = open.len();
            let children = children.into_iter().zip(first..);
            open.extend(children.map(|((child, above), place)| (child, place, above)));
            // The last one is taken next: the child with the most instances follows its parent.
            sort_by_key(&mut open[start..], |&(child, ..)| (self.nodes[child].n(), child));
        }
        Ok(())
    }

    /// The index of the next node.
    fn next_place(&self) -> u32 {
        (self.packed.len() / NODE) as u32
    }

    /// The value of a code that a test asks for.
    fn value(&self, column: u16, code: u16) -> Result<u32> {
        let value = self.codings[usize::from(column)].value(code);
        value.ok_or_else(|| Error::Corrupt("a test for ignored words".into()))
    }

    /// The words of a list of tests for one value, as long as each is the "no" child of the one before.
    fn list(
        &mut self,
        mut at: usize,
        mut here: Above,
        children: &mut Vec<(usize, Above)>,
    ) -> Result<[u32; NODE]> {
        let start = self.tables.len() as u32;
        while let Some((column, Test::Equal(code))) = &self.nodes[at].test {
            let value = self.value(*column, *code)?;
            self.tables.extend([u32::from(*column), value]);
            if !children.is_empty() {
                here = self.below(at, &here);
            }
            let no = self.nodes[at].children().start;
            children.push((no + 1, here.clone()));
            at = no;
            if children.len() == usize::from(u16::MAX) {
                break;
            }
        }
        let (n, first) = (children.len() as u32, self.next_place());
        self.tables.extend(first..first + n);
        children.push((at, here));
        Ok([FIRST << 16 | n, start, first + n, 0])
    }

    /// The words of an inner node.
    fn inner(&mut self, column: u16, test: &Test, here: &Above) -> Result<[u32; NODE]> {
        let first = self.next_place();
        let ask = |what: u32| what << 16 | u32::from(column);
        Ok(match test {
            Test::Equal(_) => {
                return Err(Error::Corrupt("a test for one value outside of a list".into()));
            }
            Test::AtMost(code) => [ask(AT_MOST), self.value(column, *code)?, first, 0],
            Test::Among { yes, no, otherwise } => {
                let start = self.tables.len();
                let fill = if *otherwise { u32::MAX } else { 0 };
                let n_codes = self.codings[usize::from(column)].n_codes();
                self.tables.resize(start + n_codes.div_ceil(32), fill);
                let mut set = |code: u16, on: bool| {
                    let word = &mut self.tables[start + usize::from(code / 32)];
                    *word = *word & !(1 << (code % 32)) | u32::from(on) << (code % 32);
                };
                yes.iter().for_each(|&code| set(code, true));
                no.iter().for_each(|&code| set(code, false));
                [ask(AMONG), start as u32, first, 0]
            }
            Test::Which(codes) => {
                let bits = (2 * codes.len()).next_power_of_two().trailing_zeros();
                let start = self.tables.len();
                self.tables.resize(start + 1 + (2 << bits), 0);
                for (&code, child) in codes.iter().zip(first..) {
                    if code == 0 {
                        self.tables[start] = child;
                        continue;
                    }
                    let value = self.value(column, code)?;
                    let mut slot = slot_of(value, bits);
                    while self.tables[start + 2 + 2 * slot] != 0 {
                        slot = (slot + 1) & ((1 << bits) - 1);
                    }
                    self.tables[start + 1 + 2 * slot] = value;
                    self.tables[start + 2 + 2 * slot] = child;
                }
                [ask(WHICH), start as u32, bits, self.row(here)]
            }
        })
    }

    /// The distribution of a node, which is written in full if that saves space below it.
    fn below(&mut self, at: usize, above: &Above) -> Above {
        let node = &self.nodes[at];
        let (n, backoff) = (f64::from(node.n()), if at == 0 { 0.0 } else { self.backoff });
        let mut p: Vec<f64> = above.p.iter().map(|p| p * backoff / (n + backoff)).collect();
        for &(class, count) in &node.counts {
            p[usize::from(class)] += f64::from(count) / (n + backoff);
        }
        let seen = above.seen.clone().unwrap_or_else(|| node.counts.iter().map(|c| c.0).collect());
        let mass = above.mass * backoff / (n + backoff);
        let saved = self.leaves[at] * (seen.len() - node.counts.len().min(seen.len()));
        if at == 0 || (node.test.is_some() && saved > 2 * self.n_classes) {
            let full = (self.full.len() / self.n_classes) as u32;
            self.full.extend(p.iter().map(|p| p.ln() as f32));
            return Above { p: p.into(), full, seen: None, mass: 1.0 };
        }
        Above { p: p.into(), full: above.full, seen: Some(seen), mass }
    }

    /// Writes a distribution and returns its offset.
    fn row(&mut self, here: &Above) -> u32 {
        let units = |class: u16| {
            let log = here.p[usize::from(class)].ln() as f32;
            (-log * UNIT).round().clamp(0.0, 65_535.0) as u32
        };
        let offset = here.mass.ln() as f32;
        let mut in_row = vec![false; self.n_classes];
        for &class in here.seen.iter().flat_map(|seen| seen.iter()) {
            in_row[usize::from(class)] = true;
        }
        // Every class that could be the most probable one, despite rounding, is in the list.
        let top = here.p.iter().fold(0f64, |top, &p| top.max(p)).ln() as f32 - 2.0 / UNIT;
        for (is_in, &p) in in_row.iter_mut().zip(&*here.p) {
            *is_in = p > 0.0 && (*is_in || p.ln() as f32 >= top);
        }
        let mut entries: Vec<(u32, u16)> = (0..)
            .zip(&in_row)
            .filter(|(_, is_in)| **is_in)
            .map(|(class, _)| (units(class), class))
            .collect();
        entries.sort_unstable();
        let place = self.rows.len() as u32;
        self.rows.extend([here.full, offset.to_bits(), entries.len() as u32]);
        debug_assert_eq!(self.rows.len(), place as usize + HEAD);
        self.rows.extend(entries.iter().map(|&(units, class)| u32::from(class) << 16 | units));
        place
    }
}
