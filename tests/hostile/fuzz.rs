//! The inputs in `fuzz/seeds`, and changed copies of them, for every target of the fuzzer.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{ALLOCATOR, alone, targets};

/// What inputs of half a kilobyte may take in all, models of the targets included.
const MAX_MEMORY: usize = 1 << 29;

/// What formats give a meaning to.
const MARKS: &[u8] = b"()[]<>{}\"'\\/|=!$~ \t\n#*-_.:,;0";

/// A target: its name, what checks an input, and how many changed copies are checked, which takes a few seconds at most.
type Target = (&'static str, fn(&[u8]), usize);

const TARGETS: [Target; 15] = [
    ("checkpoint", targets::checkpoint::check, 500),
    ("cleaning", targets::cleaning::check, 10_000),
    ("conllu", targets::conllu::check, 10_000),
    ("find", targets::find::check, 10_000),
    ("graphs", targets::graphs::check, 10_000),
    ("head_rules", targets::head_rules::check, 10_000),
    ("model_file", targets::model_file::check, 1_000),
    ("params", targets::params::check, 10_000),
    ("parse", targets::parse::check, 1_000),
    ("penn", targets::penn::check, 10_000),
    ("preset", targets::preset::check, 10_000),
    ("serve", targets::serve::check, 5_000),
    ("tagged", targets::tagged::check, 10_000),
    ("templates", targets::templates::check, 10_000),
    ("text", targets::text::check, 10_000),
];

fn seeds(folder: &Path) -> Vec<Vec<u8>> {
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// A seed with one to eight changes.
fn changed(seeds: &[Vec<u8>], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = seeds[random.random_range(0..seeds.len())].clone();
    for _ in 0..random.random_range(1..=8) {
        let start = random.random_range(0..=bytes.len());
        let end = random.random_range(start..=bytes.len()).min(start + 32);
        match random.random_range(0..6) {
            0 => drop(bytes.drain(start..end)),
            1 => bytes.insert(start, random.random()),
            2 => bytes.insert(start, MARKS[random.random_range(0..MARKS.len())]),
            3 => bytes[start..end].fill_with(|| random.random()),
            4 => bytes.extend_from_within(start..end),
            _ => {
                let other = &seeds[random.random_range(0..seeds.len())];
                let at = random.random_range(0..=other.len());
                bytes.truncate(start);
                bytes.extend(&other[at..]);
            }
        }
    }
    bytes
}

#[test]
fn seeds_of_the_fuzzer_and_changed_copies_pass() {
    let _alone = alone();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), TARGETS.len());
    for (name, check, n_copies) in TARGETS {
        let seeds = seeds(&folder.join(name));
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let copies: Vec<_> = (0..n_copies).map(|_| changed(&seeds, &mut random)).collect();
        println!("{name}: {} seeds", seeds.len());
        ALLOCATOR.set_limit(ALLOCATOR.allocated() + MAX_MEMORY).unwrap();
        for input in seeds.iter().chain(&copies) {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(input))) {
                println!("{name} fails on b\"{}\"", input.escape_ascii());
                resume_unwind(panic);
            }
        }
        ALLOCATOR.set_limit(usize::MAX).unwrap();
    }
}
