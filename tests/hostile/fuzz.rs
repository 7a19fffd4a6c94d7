//! The inputs in `fuzz/seeds`, and changed copies of them, for every target of the fuzzer.

use std::fs::{self, DirEntry, File};
use std::io::{self, Seek, Write};
use std::panic::{catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{ALLOCATOR, alone, targets};

/// How much memory an input may take.
const MAX_MEMORY: usize = 64 << 20;
/// How long.
const MAX_TIME: Duration = Duration::from_secs(60);

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

/// The names in a folder, without ends.
fn names(folder: &Path) -> Vec<String> {
    let stem = |entry: io::Result<DirEntry>| entry.unwrap().path().file_stem().unwrap().to_owned();
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| stem(entry).into_string().unwrap()).collect();
    names.sort();
    names
}

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

/// Panics, those of a server's threads included.
static N_PANICS: AtomicUsize = AtomicUsize::new(0);

/// Checks an input in little time and memory. It is in a file before, because memory or a stack that is used up ends the
/// program.
fn check_one(name: &str, check: fn(&[u8]), input: &[u8], mut file: &File) {
    file.rewind().and_then(|()| file.write_all(input)).unwrap();
    file.set_len(input.len() as u64).unwrap();
    let (start, n_panics) = (Instant::now(), N_PANICS.load(Ordering::Relaxed));
    ALLOCATOR.set_limit(ALLOCATOR.allocated() + MAX_MEMORY).unwrap();
    let _ = catch_unwind(|| check(input));
    ALLOCATOR.set_limit(usize::MAX).unwrap();
    let is_quiet = N_PANICS.load(Ordering::Relaxed) == n_panics;
    assert!(is_quiet && start.elapsed() < MAX_TIME, "{name}: b\"{}\"", input.escape_ascii());
}

#[test]
fn seeds_of_the_fuzzer_and_changed_copies_pass() {
    let _alone = alone();
    let report = take_hook();
    set_hook(Box::new(move |panic| {
        N_PANICS.fetch_add(1, Ordering::Relaxed);
        report(panic);
    }));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let times: usize = std::env::var("SRPARSE_COPIES").map_or(1, |times| times.parse().unwrap());
    for (name, check, n_copies) in TARGETS {
        let seeds = seeds(&root.join("seeds").join(name));
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
        let file = File::create(file).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        seeds.iter().for_each(|seed| check_one(name, check, seed, &file));
        (0..times * n_copies)
            .for_each(|_| check_one(name, check, &changed(&seeds, &mut random), &file));
    }
}

#[test]
fn every_target_has_a_program_and_seeds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let targets = TARGETS.map(|(name, ..)| name);
    assert_eq!(names(&root.join("seeds")), targets);
    assert_eq!(names(&root.join("fuzz_targets")), targets);
    for name in targets {
        let program = format!("fuzz_targets/{name}.rs");
        assert!(manifest.contains(&format!("path = \"{program}\"")), "{name}");
        let program = fs::read_to_string(root.join(program)).unwrap();
        assert!(program.contains(&format!("srparse_fuzz::{name}::check(bytes)")), "{name}");
    }
}
