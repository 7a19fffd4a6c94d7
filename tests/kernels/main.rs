//! The tests of `src/neural` by themselves, for emulators of other processors: the tests of the whole library take minutes to
//! compile. On x86-64, the library has them.
#![cfg(not(target_arch = "x86_64"))]
#![allow(dead_code, unreachable_pub, unused_imports)] // what the rest of the library uses

use srparse::{Error, Result, memory};

#[path = "../../src/neural/mod.rs"]
mod neural;
#[path = "../../src/parallel.rs"]
mod parallel;
#[path = "../../src/sort.rs"]
mod sort;
