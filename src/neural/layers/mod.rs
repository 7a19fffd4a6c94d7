//! Layers that compute a batch of sentences at once, forwards and backwards.
//!
//! A layer keeps what going back needs until the next batch. Its `forward` takes the inputs of all words and gives the
//! outputs, its `backward` takes the gradient of the outputs, adds those of its parameters, and gives that of the inputs.
//! Matrices have a row for each word, in the order of a [`Layout`].

mod affine;
mod bilstm;
mod layout;

pub use affine::Affine;
pub use bilstm::BiLstm;
pub use layout::Layout;

#[cfg(test)]
mod tests;
