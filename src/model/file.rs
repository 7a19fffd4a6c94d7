//! The model file: magic, format version, JSON header, aligned sections.
//!
//! ```text
//! 0   8 bytes   "SRPARSE" and a zero byte
//! 8   u32       format version
//! 12  u32       length of the JSON header in bytes
//! 16  u32       CRC-32 of the JSON header
//! 20            the JSON header, then zeros to a multiple of 64
//!               the sections, each at a multiple of 64
//! ```
//!
//! All numbers are little-endian. The header lists every section with its element type, offset, length
//! in bytes and CRC-32. Everything is checked before anything is used.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{Header, Model};
use crate::memory::{Array, MODEL_MAGIC, ModelBytes, Section, Sections};
use crate::text_file::read_some;
use crate::{Error, Result, output};

/// The version of the format that is written and read.
pub const FORMAT_VERSION: u32 = 2;
const FIXED: usize = 20;
const ALIGNMENT: usize = 64;

#[derive(Serialize, Deserialize)]
struct StoredHeader {
    #[serde(flatten)]
    header: Header,
    sections: Vec<StoredSection>,
}

#[derive(Serialize, Deserialize)]
struct StoredSection {
    name: String,
    element: String,
    offset: u64,
    bytes: u64,
    crc32: u32,
}

/// Writes a model; a file that is there is replaced once the model is written in full.
///
/// # Errors
/// When the file cannot be written.
pub fn write(model: &Model, path: &Path) -> Result<()> {
    output::write(path, |mut out| write_to(model, &mut out))
}

/// Writes a model's bytes.
///
/// # Errors
/// When `out` does.
pub fn write_to(model: &Model, out: &mut impl Write) -> std::io::Result<()> {
    // The offsets depend on the length of the header, which depends on the offsets: reserve space for the header.
    let mut room = 0;
    let json = loop {
        let json = header_json(model, room)?;
        let needed = (FIXED + json.len()).next_multiple_of(ALIGNMENT);
        if needed <= room {
            break json;
        }
        room = needed;
    };
    out.write_all(MODEL_MAGIC)?;
    out.write_all(&FORMAT_VERSION.to_le_bytes())?;
    out.write_all(&(json.len() as u32).to_le_bytes())?;
    out.write_all(&crc32fast::hash(&json).to_le_bytes())?;
    out.write_all(&json)?;
    pad(out, FIXED + json.len(), room)?;
    for section in &model.sections.0 {
        out.write_all(&section.bytes)?;
        pad(out, section.bytes.len(), section.bytes.len().next_multiple_of(ALIGNMENT))?;
    }
    out.flush()
}

fn pad(out: &mut impl Write, from: usize, to: usize) -> std::io::Result<()> {
    (from..to).try_for_each(|_| out.write_all(&[0]))
}

fn header_json(model: &Model, first_offset: usize) -> std::io::Result<Vec<u8>> {
    let mut offset = first_offset;
    let sections = model.sections.0.iter().map(|section| {
        let bytes = section.bytes.len();
        let stored = StoredSection {
            name: section.name.clone(),
            element: section.element.clone(),
            offset: offset as u64,
            bytes: bytes as u64,
            crc32: crc32fast::hash(&section.bytes),
        };
        offset += bytes.next_multiple_of(ALIGNMENT);
        stored
    });
    let stored = StoredHeader { sections: sections.collect(), header: model.header.clone() };
    Ok(serde_json::to_vec(&stored)?)
}

/// Files of at least this size are mapped, so that parsers on one machine share their pages. A smaller file is read:
/// then nobody can change the model while it is in use. A program that is killed because a file was replaced in place
/// costs more than a copy: about 0.6 ms of CPU time per megabyte.
const MAPPED_FROM: u64 = 64 << 20;

/// Opens a model file: reads it or, if it is large, maps it into memory.
///
/// # Errors
/// [`Error::Io`] when the file cannot be opened; [`Error::Model`] when it is not a model, of another version,
/// truncated or corrupted.
pub fn read(path: &Path) -> Result<Model> {
    // Before it is opened, which waits for a writer if it is a pipe.
    if path.exists() && !path.is_file() {
        let problem = "not a file: give a model file, as `srparse train` writes it".to_owned();
        return Err(Error::Model { path: path.to_path_buf(), problem });
    }
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let length = file.metadata().map_err(|error| Error::io(path, error))?.len();
    let memory = if length < MAPPED_FROM { read_whole(file, length) } else { map(&file) };
    read_memory(memory.map_err(|error| Error::io(path, error))?, path)
}

/// Reads a file, of which no more than `length` bytes, into aligned memory.
fn read_whole(file: File, length: u64) -> std::io::Result<ModelBytes> {
    let mut words = vec![0u64; length.div_ceil(8) as usize];
    let mut filled = 0;
    let mut file = file.take(length);
    loop {
        match read_some(&mut file, &mut bytemuck::cast_slice_mut(&mut words)[filled..])? {
            0 => return Ok(ModelBytes::Owned(words, filled)),
            n => filled += n,
        }
    }
}

fn map(file: &File) -> std::io::Result<ModelBytes> {
    // SAFETY: the map is read-only, and models are replaced by renaming, never written in place. Another program that
    // does overwrite the file changes plain numbers under our eyes, of which every value is valid; positions among them
    // are checked at each use, so that scores are wrong or a position is refused with a panic. If the file is cut, the
    // system ends the program. The command explains both (`cli::changed_models`).
    #[allow(unsafe_code)]
    let map = unsafe { memmap2::Mmap::map(file) }?;
    if let (Ok(mut mapped), Ok(file), Ok(metadata)) =
        (MAPPED.lock(), file.try_clone(), file.metadata())
        && let Ok(modified) = metadata.modified()
    {
        mapped.push((file, modified));
    }
    Ok(ModelBytes::Mapped(map))
}

/// The files that have been mapped, and when they were last changed before that.
static MAPPED: Mutex<Vec<(File, SystemTime)>> = Mutex::new(Vec::new());

/// Returns whether a file has been changed since it was mapped.
pub fn is_mapped_file_changed() -> bool {
    let is_changed = |(file, before): &(File, SystemTime)| {
        file.metadata().and_then(|now| now.modified()).is_ok_and(|now| now != *before)
    };
    MAPPED.try_lock().is_ok_and(|mapped| mapped.iter().any(is_changed))
}

/// Reads a model from memory; messages name it `path`.
///
/// # Errors
/// As [`read`].
pub fn read_memory(memory: ModelBytes, path: &Path) -> Result<Model> {
    let fail = |problem: String| Error::Model { path: path.to_path_buf(), problem };
    let bytes = memory.bytes();
    let word = |at: usize| -> Option<u32> {
        bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes)
    };
    if bytes.get(..MODEL_MAGIC.len()) != Some(MODEL_MAGIC) {
        return Err(fail(
            "not an srparse model: give a model file, as `srparse train` writes it".into(),
        ));
    }
    let truncated = || {
        fail(format!(
            "truncated: the file ends after {} bytes; copy it or train the model again",
            bytes.len()
        ))
    };
    let (Some(version), Some(length), Some(crc)) = (word(8), word(12), word(16)) else {
        return Err(truncated());
    };
    if version != FORMAT_VERSION {
        let advice =
            if version > FORMAT_VERSION { "update srparse" } else { "train the model again" };
        return Err(fail(format!(
            "unsupported model format {version} (this version reads {FORMAT_VERSION}): {advice}"
        )));
    }
    let json = bytes.get(FIXED..FIXED + length as usize).ok_or_else(truncated)?;
    if crc32fast::hash(json) != crc {
        return Err(fail("the header is corrupted: copy the file or train the model again".into()));
    }
    // What is wrong inside says nothing to a user, who did not write it.
    let stored: StoredHeader = serde_json::from_slice(json)
        .map_err(|_| fail("the header is not that of a model: train the model again".into()))?;
    let mut ranges = Vec::with_capacity(stored.sections.len());
    for section in &stored.sections {
        let end = section.offset.checked_add(section.bytes);
        let range = end.and_then(|end| {
            Some(usize::try_from(section.offset).ok()?..usize::try_from(end).ok()?)
        });
        let range = range.filter(|range| range.end <= bytes.len()).ok_or_else(truncated)?;
        if range.start % ALIGNMENT != 0 || crc32fast::hash(&bytes[range.clone()]) != section.crc32 {
            return Err(fail(format!(
                "section `{}` is corrupted: copy the file or train the model again",
                section.name
            )));
        }
        ranges.push(range);
    }
    let memory = Arc::new(memory);
    let sections = stored.sections.into_iter().zip(ranges).map(|(section, range)| Section {
        name: section.name,
        element: section.element,
        bytes: Array::Shared(Arc::clone(&memory), range),
    });
    let sections = Sections(sections.collect());
    Ok(Model { sections, header: stored.header, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut model = Model::default();
        model.header.seed = 7;
        model.sections.put::<u64>("a", vec![1, 2, 3].into());
        model.sections.put::<f32>("b", vec![0.5].into());
        let mut bytes = Vec::new();
        write_to(&model, &mut bytes).unwrap();
        bytes
    }

    fn read_bytes(bytes: &[u8]) -> Result<Model> {
        read_memory(ModelBytes::owned(bytes), Path::new("m.srm"))
    }

    #[test]
    fn a_written_model_is_read_in_place() {
        let model = read_bytes(&sample()).unwrap();
        assert_eq!(model.header.seed, 7);
        assert_eq!(&*model.sections.get::<u64>("a").unwrap(), [1, 2, 3]);
        assert!(model.sections.get::<u32>("a").is_err());
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = sample();
        let last = read_bytes(&bytes).unwrap().sections.0.last().unwrap().bytes.len();
        let needed = bytes.len() - (ALIGNMENT - last);
        for length in 0..needed {
            assert!(read_bytes(&bytes[..length]).is_err(), "{length} of {needed}");
        }
    }

    #[test]
    fn a_flipped_bit_is_refused_and_a_newer_version_named() {
        let bytes = sample();
        let end = FIXED + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let stored: StoredHeader = serde_json::from_slice(&bytes[FIXED..end]).unwrap();
        let sections = stored.sections.iter().map(|section| {
            let start = section.offset as usize;
            start..start + section.bytes as usize
        });
        let used: Vec<_> = std::iter::once(0..end).chain(sections).collect();
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 4;
            let is_padding = !used.iter().any(|range| range.contains(&at));
            assert!(read_bytes(&broken).is_err() || is_padding, "byte {at}");
        }
        let mut newer = bytes;
        newer[8] = 9;
        assert!(read_bytes(&newer).unwrap_err().to_string().contains("update srparse"));
    }
}
