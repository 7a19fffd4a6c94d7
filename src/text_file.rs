//! Text files that are read whole: presets, profiles, tables and lists; and two ways of reading that other files share.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::error::Place;
use crate::{Error, Result};

/// The largest file that is read: a device such as `/dev/zero` has no end.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a UTF-8 file, without its byte order mark.
///
/// # Errors
/// When it cannot be read, is larger than 64 MB, or is not UTF-8, with the place.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    let bytes = read_bytes(path, MAX_BYTES)?.ok_or_else(|| {
        let problem = "larger than 64 MB: give a preset, a table or a list of this program";
        Error::io(path, io::Error::new(ErrorKind::FileTooLarge, problem))
    })?;
    decode(bytes, &path.display().to_string())
}

/// Reads a file of at most `limit` bytes; returns `None` if it is larger.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read_bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        .map_err(|error| Error::io(path, error))?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Reads once, and again only if a signal interrupts it; returns the number of bytes, 0 at the end.
///
/// # Errors
/// When the reader fails.
pub(crate) fn read_some(reader: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Returns whether there is something to read: a file, or a pipe such as `<(…)` of a shell.
pub(crate) fn exists(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    path.exists() && !path.is_dir()
}

fn decode(bytes: Vec<u8>, name: &str) -> Result<String> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let good = String::from_utf8_lossy(&error.as_bytes()[..good]);
        let line = good.matches('\n').count() as u64 + 1;
        let column = good.rsplit('\n').next().map_or(0, |last| last.chars().count()) as u64 + 1;
        let problem = "not UTF-8 text: convert the file to UTF-8 (for instance with iconv)";
        Error::syntax(Place::new(name, line, column), problem)
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf_8_have_a_place() {
        let error = decode(b"NP left\nV\xffP left".to_vec(), "t.heads").unwrap_err();
        assert!(error.to_string().starts_with("t.heads:2:2: not UTF-8"), "{error}");
        assert_eq!(decode("\u{feff}NP left".into(), "t").unwrap(), "NP left");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_an_end_is_refused() {
        let error = read("/dev/zero").unwrap_err();
        assert!(error.to_string().contains("larger than 64 MB"), "{error}");
    }
}
