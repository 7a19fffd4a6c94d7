//! A layer that reads in both directions.

use std::fmt::Debug;
use std::ops::Range;

use super::Layout;
use crate::neural::kernel::add_scaled;
use crate::neural::product::{Packed, add_product, transpose};
use crate::neural::{Gradients, Param, Params};
use crate::parallel;

/// What a recurrent layer does from step to step, in one direction. Inputs contribute to four gates of each unit.
pub trait Recurrence: Debug + Send {
    /// The weights: from the input to the gates, added to the gates, and of the recurrence; in the order in which they
    /// were laid out.
    fn weights(&self) -> [Param; 3];

    /// From the contributions of the inputs to outputs.
    fn forward(&mut self, params: &Params, steps: Steps<'_>, trace: &mut Trace);

    /// From the gradient of the outputs to that of the gates.
    fn backward(&mut self, params: &Params, steps: Steps<'_>, trace: &mut Trace);

    /// Adds the gradient of the weights of the recurrence, after [`Recurrence::backward`]. `d_gates` is the gradient of
    /// the gates, packed.
    fn add_gradient(
        &mut self,
        steps: Steps<'_>,
        trace: &Trace,
        d_gates: &Packed,
        gradient: &mut [f32],
    );
}

/// The steps of a direction.
#[derive(Debug, Clone, Copy)]
pub struct Steps<'a> {
    layout: &'a Layout,
    backwards: bool,
}

impl Steps<'_> {
    /// The number of rows.
    pub(super) fn rows(self) -> usize {
        self.layout.rows()
    }

    /// The rows of each step, and those before the first of them.
    pub(super) fn in_order(
        &self,
    ) -> impl DoubleEndedIterator<Item = (Range<usize>, Range<usize>)> + '_ {
        self.layout.steps(self.backwards)
    }
}

/// What a direction computes; a row of units for each word, and of four gates for each unit.
#[derive(Debug, Default)]
pub struct Trace {
    pub(super) gates: Vec<f32>,
    pub(super) memory: Vec<f32>,
    pub(super) outputs: Vec<f32>,
    pub(super) d_gates: Vec<f32>,
    pub(super) d_memory: Vec<f32>,
    pub(super) d_outputs: Vec<f32>,
}

/// Two recurrences, one of which reads backwards.
#[derive(Debug)]
pub struct Bidirectional<R> {
    directions: [Direction<R>; 2],
    /// The inputs, transposed.
    flipped: Vec<f32>,
}

impl<R: Recurrence> Bidirectional<R> {
    /// A layer of the recurrence that reads forwards, and of the other one.
    pub fn new([forwards, backwards]: [R; 2]) -> Self {
        let directions = [Direction::new(forwards, false), Direction::new(backwards, true)];
        Self { directions, flipped: Vec::new() }
    }

    /// Writes the outputs of both directions, beside each other.
    pub fn forward(&mut self, params: &Params, layout: &Layout, x: &[f32], out: &mut Vec<f32>) {
        parallel::for_each(&mut self.directions, |direction| direction.forward(params, layout, x));
        let units = self.directions[0].units();
        out.resize(layout.rows() * 2 * units, 0.0);
        let [forwards, backwards] =
            self.directions.each_ref().map(|own| own.trace.outputs.chunks_exact(units));
        for (out, (forwards, backwards)) in
            out.chunks_exact_mut(2 * units).zip(forwards.zip(backwards))
        {
            out[..units].copy_from_slice(forwards);
            out[units..].copy_from_slice(backwards);
        }
    }

    /// Adds the gradients of the weights, and writes that of the inputs.
    pub fn backward(
        &mut self,
        params: &Params,
        layout: &Layout,
        (x, d_out): (&[f32], &[f32]),
        d_x: &mut Vec<f32>,
        gradients: &mut Gradients,
    ) {
        let Self { directions, flipped } = self;
        let units = directions[0].units();
        for (number, direction) in directions.iter_mut().enumerate() {
            let d_outputs = &mut direction.trace.d_outputs;
            d_outputs.clear();
            let rows = d_out.chunks_exact(2 * units);
            d_outputs.extend(rows.flat_map(|row| &row[number * units..][..units]));
        }
        let [a, b] = directions.each_ref().map(|direction| direction.recurrence.weights());
        transpose(x, a[0].rows as usize, flipped);
        let [input, bias, own, others @ ..] =
            gradients.several_mut([a[0], a[1], a[2], b[0], b[1], b[2]]);
        let work = directions.iter_mut().zip([[input, bias, own], others]);
        parallel::for_each(work, |(direction, gradients)| {
            direction.backward(params, layout, flipped, gradients);
        });
        let [forwards, backwards] = directions;
        d_x.clear();
        d_x.extend_from_slice(&forwards.d_inputs);
        add_scaled(1.0, &backwards.d_inputs, d_x);
    }
}

/// A recurrence, and what it computes.
#[derive(Debug)]
struct Direction<R> {
    recurrence: R,
    reads_backwards: bool,
    packed: Packed,
    trace: Trace,
    d_inputs: Vec<f32>,
}

impl<R: Recurrence> Direction<R> {
    fn new(recurrence: R, reads_backwards: bool) -> Self {
        let (packed, trace, d_inputs) = (Packed::default(), Trace::default(), Vec::new());
        Self { recurrence, reads_backwards, packed, trace, d_inputs }
    }

    fn units(&self) -> usize {
        self.recurrence.weights()[0].columns as usize / 4
    }

    fn forward(&mut self, params: &Params, layout: &Layout, x: &[f32]) {
        let (n, units) = (layout.rows(), self.units());
        let Self { recurrence, packed, trace, .. } = self;
        let [input, bias, _] = recurrence.weights();
        trace.gates.clear();
        (0..n).for_each(|_| trace.gates.extend_from_slice(params.of(bias)));
        packed.pack(params.of(input), 4 * units);
        add_product(x, packed, &mut trace.gates);
        for numbers in [&mut trace.memory, &mut trace.outputs] {
            numbers.resize(n * units, 0.0);
        }
        let steps = Steps { layout, backwards: self.reads_backwards };
        recurrence.forward(params, steps, trace);
    }

    /// Goes back; `flipped` are the inputs, transposed.
    fn backward(
        &mut self,
        params: &Params,
        layout: &Layout,
        flipped: &[f32],
        gradients: [&mut [f32]; 3],
    ) {
        let units = self.units();
        let Self { recurrence, packed, trace, d_inputs, .. } = self;
        trace.d_gates.resize(trace.gates.len(), 0.0);
        trace.d_memory.clear();
        trace.d_memory.resize(trace.memory.len(), 0.0);
        let steps = Steps { layout, backwards: self.reads_backwards };
        recurrence.backward(params, steps, trace);
        let input = recurrence.weights()[0];
        packed.pack_transposed(params.of(input), 4 * units);
        d_inputs.clear();
        d_inputs.resize(layout.rows() * input.rows as usize, 0.0);
        add_product(&trace.d_gates, packed, d_inputs);
        packed.pack(&trace.d_gates, 4 * units);
        let [input, bias, own] = gradients;
        add_product(flipped, packed, input);
        trace.d_gates.chunks_exact(4 * units).for_each(|row| add_scaled(1.0, row, bias));
        recurrence.add_gradient(steps, trace, packed, own);
    }
}

/// Two ranges that do not overlap.
pub(super) fn disjoint(
    numbers: &mut [f32],
    first: Range<usize>,
    second: Range<usize>,
) -> (&mut [f32], &mut [f32]) {
    if first.start < second.start {
        let (low, high) = numbers.split_at_mut(second.start);
        (&mut low[first], &mut high[..second.len()])
    } else {
        let (low, high) = numbers.split_at_mut(first.start);
        (&mut high[..first.len()], &mut low[second])
    }
}
