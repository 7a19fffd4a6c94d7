//! Dropout, and passes over a network that may apply it.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};

use super::{Params, Tape, Var};

/// Dropout of a network in training: hidden units and words.
#[derive(Debug)]
pub struct Dropout {
    rng: ChaCha8Rng,
    /// The probability that a hidden unit is dropped.
    rate: f32,
}

impl Dropout {
    /// Dropout of hidden units with probability `rate`, in [0, 1), and a seeded generator.
    pub fn new(seed: u64, rate: f32) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), rate }
    }

    /// Returns true with the given probability.
    pub fn happens(&mut self, probability: f32) -> bool {
        self.rng.random::<f32>() < probability
    }

    /// What a hidden unit that is kept is multiplied by.
    pub fn scale(&self) -> f32 {
        1.0 / (1.0 - self.rate)
    }

    /// Draws a factor for each hidden unit: 0 with probability `rate`, else [`Dropout::scale`] (inverted dropout).
    pub fn draw(&mut self, factors: &mut [f32]) {
        self.draw_with(self.rate, factors);
    }

    /// The same with another probability.
    pub fn draw_with(&mut self, rate: f32, factors: &mut [f32]) {
        let (scale, least) = (1.0 / (1.0 - rate), (f64::from(rate) * 2f64.powi(32)) as u32);
        for factor in factors {
            *factor = if self.rng.next_u32() < least { 0.0 } else { scale };
        }
    }
}

/// The context of a forward pass on the tape.
pub struct ForwardPass<'a> {
    /// The tape.
    pub tape: &'a mut Tape,
    /// The parameters.
    pub params: &'a Params,
    /// Dropout, if there is any.
    pub dropout: Option<&'a mut Dropout>,
}

impl ForwardPass<'_> {
    /// Applies dropout to hidden units.
    pub fn dropout(&mut self, x: Var) -> Var {
        match &mut self.dropout {
            Some(dropout) if dropout.rate > 0.0 => {
                self.tape.scale(x, |factors| dropout.draw(factors))
            }
            _ => x,
        }
    }
}
