//! The commands: arguments and glue, one file each.

pub mod tree;
