//! Polynomial support vector machines, one against all.
pub mod descent;
pub mod groups;
pub mod rows;
