//! The `srparse` command.

fn main() {}
