//! `parse --resume`: a long run that was ended goes on where it was, to the same bytes.
//!
//! The output grows in `FILE.part`. Again and again, what has been written is brought to disk, and then noted in
//! `FILE.part.json`: how much of the input it is of, and what it was made with. The next run reads that much of the input
//! again, cuts off what was written after the note, and goes on. At the end the part becomes the file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::out::of_file;
use crate::Error;
use crate::output::{resolved, write};
use crate::treebank::Input;

/// The conditions of the output: names, such as those of options, with values.
pub(super) type Causes = Vec<(String, String)>;

/// The pause between notes, as a multiple of the time that writing one takes: on any disk, notes take a twentieth of the
/// time.
const PAUSE: u32 = 19;

/// The finished part of a run. `T` is what the command counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Done<T> {
    /// Items of the input.
    pub(super) items: u64,
    /// A check sum of these items.
    pub(super) input: u32,
    pub(super) totals: T,
}

/// The contents of `FILE.part.json`.
#[derive(Serialize, Deserialize)]
struct Note<C, D> {
    causes: C,
    done: D,
    /// Bytes of the output.
    bytes: u64,
    /// A check sum of these bytes.
    output: u32,
}

/// An output that a later run can go on with.
pub(super) struct Part {
    file: BufWriter<File>,
    /// Of the bytes of the output.
    sum: crc32fast::Hasher,
    /// The file that the part becomes.
    target: PathBuf,
    part: PathBuf,
    note: PathBuf,
    causes: Causes,
    /// When the last note was written, and how long that took.
    noted: (Instant, Duration),
}

impl Part {
    /// Begins an output, or goes on with what an earlier run has left: then with what had been done.
    ///
    /// # Errors
    /// When it cannot be written, is complete, is being written by another program, or was made with something else.
    pub(super) fn open<T: Default + Serialize + DeserializeOwned>(
        path: &Path,
        causes: Causes,
    ) -> anyhow::Result<(Self, Option<Done<T>>)> {
        let target = resolved(path);
        let [part, note] = beside(&target);
        crate::output::check(path)?;
        for file in [&target, &part, &note] {
            ensure!(
                file.symlink_metadata().map_or(true, |found| found.is_file()),
                "--resume: {} is no plain file: name another output",
                file.display()
            );
        }
        let is_begun = part.exists() && note.exists();
        ensure!(
            is_begun || !target.exists(),
            "--resume: {} is there already, and there is no {} to go on with, so it is complete or of another run: delete \
             it to begin again, or name another file",
            path.display(),
            part.display()
        );
        // An empty one is of a run that was killed before its first note.
        let is_empty = |file: &Path| file.metadata().is_ok_and(|found| found.len() == 0);
        ensure!(
            is_begun || !part.exists() || is_empty(&part),
            "--resume: {} is there already, and without {} it is not known what it is: delete it, or name another output",
            part.display(),
            note.display()
        );
        let failed = |source| Error::io(&part, source);
        if !is_begun && note.exists() {
            // One that lost its part says nothing about the new one, but must be a note.
            parsed_note::<T>(&note, &part)?;
        }
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&part);
        let file = file.map_err(failed)?;
        let is_locked = matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock));
        // Another program may have begun or completed the output meanwhile.
        if is_locked || !part.exists() || !is_begun && (target.exists() || !is_empty(&part)) {
            bail!("{}: another program is writing this file", part.display());
        }
        if !is_begun {
            let first = Note { causes: &causes, done: Done::<T>::default(), bytes: 0, output: 0 };
            let first = serde_json::to_vec(&first)?;
            write(&note, |out| out.write_all(&first))?;
        }
        let noted = is_begun.then(|| read_note(&note, &part, &causes)).transpose()?;
        let noted = noted.filter(|noted| noted.bytes > 0);
        let (bytes, before) = noted.as_ref().map_or((0, 0), |noted| (noted.bytes, noted.output));
        let sum = checksum(&file, bytes).map_err(failed)?;
        ensure!(
            sum.clone().finalize() == before,
            "{}: it does not begin with the {bytes} bytes that {} is about: delete both to begin again",
            part.display(),
            note.display()
        );
        file.set_len(bytes).map_err(failed)?;
        let mut file = BufWriter::with_capacity(1 << 16, file);
        file.seek(SeekFrom::Start(bytes)).map_err(failed)?;
        let done = noted.map(|noted| noted.done);
        let noted = (Instant::now(), Duration::ZERO);
        Ok((Self { file, sum, target, part, note, causes, noted }, done))
    }

    /// Notes what has been done, if the last note is old.
    ///
    /// # Errors
    /// When the output or the note cannot be written.
    pub(super) fn note<T: Serialize>(&mut self, done: &Done<T>) -> anyhow::Result<()> {
        let (last, cost) = self.noted;
        if last.elapsed() < PAUSE * cost {
            return Ok(());
        }
        let start = Instant::now();
        let bytes = self.sync().map_err(|source| Error::io(&self.part, source))?;
        let output = self.sum.clone().finalize();
        let note = serde_json::to_vec(&Note { causes: &self.causes, done, bytes, output })?;
        write(&self.note, |out| out.write_all(&note))?;
        self.noted = (Instant::now(), start.elapsed());
        Ok(())
    }

    /// Brings the output to disk; returns its length.
    fn sync(&mut self) -> io::Result<u64> {
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        self.file.stream_position()
    }

    /// Makes the part the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        let synced = self.sync().and_then(|_| fs::rename(&self.part, &self.target));
        synced.map_err(|source| Error::io(&self.target, source))?;
        // Without its part, a note means nothing.
        let _ = fs::remove_file(&self.note);
        Ok(())
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes).map_err(|error| of_file(&self.part, error))?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| of_file(&self.part, error))
    }
}

/// A check sum of the first bytes of a file, or of all if it has fewer.
fn checksum(file: &File, bytes: u64) -> io::Result<crc32fast::Hasher> {
    let mut sum = crc32fast::Hasher::new();
    let mut rest = BufReader::with_capacity(1 << 16, file.take(bytes));
    loop {
        let read = rest.fill_buf()?;
        if read.is_empty() {
            return Ok(sum);
        }
        sum.update(read);
        let length = read.len();
        rest.consume(length);
    }
}

/// The largest count of a note: no input brings it near to the largest number.
const MOST: u64 = 1 << 53;

/// Whether all counts of a note are such that more can be added.
fn is_countable(value: &Value) -> bool {
    match value {
        Value::Object(values) => values.values().all(is_countable),
        Value::Number(number) => number.as_u64().is_some_and(|count| count <= MOST),
        _ => true,
    }
}

/// The names of the part of an output, and of its note.
pub(super) fn beside(target: &Path) -> [PathBuf; 2] {
    [".part", ".part.json"].map(|ending| {
        let mut name = target.to_owned().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    })
}

/// Reads a note.
///
/// # Errors
/// When it cannot be read, or is none.
fn parsed_note<T: DeserializeOwned>(
    note: &Path,
    part: &Path,
) -> anyhow::Result<Note<Causes, Done<T>>> {
    let text = fs::read(note).map_err(|source| Error::io(note, source))?;
    let read = serde_json::from_slice::<Value>(&text).ok().filter(is_countable);
    let read = read.and_then(|value| serde_json::from_value(value).ok());
    read.with_context(|| {
        format!(
            "{}: this is no note of --resume: delete it and {} to begin again",
            note.display(),
            part.display()
        )
    })
}

/// Reads a note; refuses what was made with something else.
fn read_note<T: DeserializeOwned>(
    path: &Path,
    part: &Path,
    causes: &Causes,
) -> anyhow::Result<Note<Causes, Done<T>>> {
    let note: Note<Causes, Done<T>> = parsed_note(path, part)?;
    let value = |causes: &Causes, name: &str| {
        let found = causes.iter().find(|(other, _)| other == name);
        found.map_or_else(|| "none".to_owned(), |(_, value)| value.clone())
    };
    for (name, _) in note.causes.iter().chain(causes) {
        let (before, now) = (value(&note.causes, name), value(causes, name));
        ensure!(
            before == now,
            "{}: it was begun with another {name} ({before}, now {now}): give the same again, or delete the file to \
             begin again",
            part.display()
        );
    }
    Ok(note)
}

/// The conditions of the output in the input files: their names and sizes.
///
/// # Errors
/// When one cannot be read again from its beginning.
pub(super) fn causes_of(inputs: &[Input]) -> anyhow::Result<Causes> {
    let mut causes = vec![("number of input files".to_owned(), inputs.len().to_string())];
    for (input, number) in inputs.iter().zip(1..) {
        let (name, size) = (input.name(), input.size());
        let Some(size) = size else {
            bail!(
                "--resume reads the input again from its beginning, and {name} is no file: name files"
            );
        };
        causes.push((format!("input file {number}"), format!("{name} of {size} bytes")));
    }
    Ok(causes)
}
