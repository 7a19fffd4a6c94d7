//! Inputs: files, folders, patterns and standard input, compressed or not, and their encoding.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result, did_you_mean};

/// One source of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file; decompressed while reading if its name ends in `.gz`.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl Input {
    /// Returns the name used in messages.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "<stdin>".to_owned(),
        }
    }

    /// Returns the stored size of a file in bytes; `None` if it is not known in advance.
    pub fn size(&self) -> Option<u64> {
        let Self::File(path) = self else { return None };
        path.metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
    }

    /// Opens the input for reading.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be opened.
    pub fn open(&self) -> Result<Box<dyn Read + Send>> {
        self.open_counted(&ByteCounter::default())
    }

    /// Opens the input for reading; `counter` counts the stored bytes that have been read.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub fn open_counted(&self, counter: &ByteCounter) -> Result<Box<dyn Read + Send>> {
        let path = match self {
            Self::Stdin => return Ok(Box::new(io::stdin())),
            Self::File(path) => path,
        };
        let file = File::open(path).map_err(|source| Error::io(path, source))?;
        let file = Counted { file, counter: counter.clone() };
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
            // A concatenation of compressed files (`cat a.gz b.gz`) is one file.
            return Ok(Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(file))));
        }
        Ok(Box::new(file))
    }
}

/// Counts the bytes that are read from files.
#[derive(Debug, Clone, Default)]
pub struct ByteCounter(Arc<AtomicU64>);

impl ByteCounter {
    /// Returns how many bytes have been read.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A file whose bytes are counted as they are read.
struct Counted {
    file: File,
    counter: ByteCounter,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.counter.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Expands paths into the inputs to read, in order.
///
/// A folder stands for all files in it and its subfolders, sorted by path, without hidden ones. A path that
/// does not exist and contains `*`, `?` or `[` is a pattern. `-` is standard input.
///
/// # Errors
/// When a path does not exist, a folder has no files, a pattern matches nothing, or standard input occurs
/// twice.
pub fn expand(paths: &[PathBuf]) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            if inputs.contains(&Input::Stdin) {
                return Err(Error::config(
                    "-",
                    "standard input can be read only once: give `-` only once",
                ));
            }
            inputs.push(Input::Stdin);
        } else if path.is_dir() {
            inputs.extend(files_below(path)?.into_iter().map(Input::File));
        } else if !path.exists() && is_pattern(path) {
            for path in matches(path)? {
                if path.is_dir() {
                    inputs.extend(files_below(&path)?.into_iter().map(Input::File));
                } else {
                    inputs.push(Input::File(path));
                }
            }
        } else {
            // Fail now rather than after reading the files before it.
            path.metadata().map_err(|source| Error::io(path, source))?;
            inputs.push(Input::File(path.clone()));
        }
    }
    Ok(inputs)
}

fn is_pattern(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains(['*', '?', '[']))
}

/// Returns the existing paths that match a pattern, sorted.
fn matches(pattern: &Path) -> Result<Vec<PathBuf>> {
    let text = pattern.to_string_lossy();
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let found = glob::glob_with(&text, options)
        .map_err(|problem| Error::config(text.as_ref(), format!("invalid pattern: {problem}")))?;
    let paths: Vec<PathBuf> = found.collect::<std::result::Result<_, _>>().map_err(|problem| {
        let path = problem.path().to_path_buf();
        Error::io(path, problem.into())
    })?;
    if paths.is_empty() {
        return Err(Error::config(text.as_ref(), "no file matches this pattern"));
    }
    Ok(paths)
}

/// Returns the files in a folder and its subfolders, sorted by path, without hidden ones.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|source| Error::io(&folder, source))?;
        for entry in entries {
            let entry = entry.map_err(|source| Error::io(&folder, source))?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let kind = entry.file_type().map_err(|source| Error::io(entry.path(), source))?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if !entry.path().is_dir() {
                // A link to a folder is not followed: it may form a cycle.
                files.push(entry.path());
            }
        }
    }
    if files.is_empty() {
        let problem = "the folder has no files: give a treebank file or a folder with such files";
        return Err(Error::config(folder.display().to_string(), problem));
    }
    files.sort_unstable();
    Ok(files)
}

/// The encoding of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// UTF-8, with or without a byte-order mark.
    #[default]
    Utf8,
    /// GB18030, a superset of GBK and GB2312 (the Chinese Treebank).
    Gb18030,
    /// Windows-1252, a superset of Latin-1.
    Latin1,
}

impl Encoding {
    /// The names that [`FromStr`] accepts and messages list.
    pub const NAMES: [&'static str; 3] = ["utf-8", "gb18030", "latin-1"];

    /// Returns the decoder; `None` for UTF-8, which is validated rather than decoded.
    pub(super) fn table(self) -> Option<&'static encoding_rs::Encoding> {
        match self {
            Self::Utf8 => None,
            Self::Gb18030 => Some(encoding_rs::GB18030),
            Self::Latin1 => Some(encoding_rs::WINDOWS_1252),
        }
    }

    /// Decodes one line; on failure, returns the number of characters before the first invalid byte.
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, u64> {
        match self.table() {
            None => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Cow::Borrowed(text)),
                Err(problem) => {
                    let good = String::from_utf8_lossy(&bytes[..problem.valid_up_to()]);
                    Err(good.chars().count() as u64)
                }
            },
            Some(table) => {
                if let Some(text) = table.decode_without_bom_handling_and_without_replacement(bytes)
                {
                    return Ok(text);
                }
                let text = table.decode_without_bom_handling(bytes).0;
                Err(text.chars().take_while(|&c| c != char::REPLACEMENT_CHARACTER).count() as u64)
            }
        }
    }

    /// Returns the message for bytes that are not text in this encoding.
    pub(crate) fn complaint(self) -> &'static str {
        match self {
            Self::Utf8 => {
                "not UTF-8 text: choose another encoding (gb18030, latin-1) or convert the file"
            }
            Self::Gb18030 => {
                "not GB18030 (GBK) text: choose another encoding (utf-8, latin-1) or convert the file"
            }
            Self::Latin1 => {
                "not Windows-1252 (Latin-1) text: choose another encoding (utf-8, gb18030) or convert the file"
            }
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Ok(Self::Utf8),
            "gb18030" | "gbk" | "gb2312" => Ok(Self::Gb18030),
            "latin-1" | "latin1" | "iso-8859-1" | "windows-1252" => Ok(Self::Latin1),
            other => Err(Error::config("encoding", unknown(other, Self::NAMES))),
        }
    }
}

/// Returns the message for an unknown name.
pub(super) fn unknown<const N: usize>(given: &str, known: [&str; N]) -> String {
    let hint = did_you_mean(given, known);
    format!("`{given}` is unknown: {hint}choose one of {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_encoding_lists_the_choices() {
        let message = "utf-9".parse::<Encoding>().unwrap_err().to_string();
        assert!(message.contains("did you mean `utf-8`?"), "{message}");
        assert!(message.contains("utf-8, gb18030, latin-1"), "{message}");
    }

    #[test]
    fn a_folder_gives_its_files_sorted_and_without_hidden_ones() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("02")).unwrap();
        for name in ["b.mrg", "02/c.mrg", "a.mrg", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let inputs = expand(&[folder.path().to_path_buf()]).unwrap();
        let names: Vec<_> = inputs.iter().map(Input::name).collect();
        let ends: Vec<_> = names.iter().map(|n| n.rsplit('/').next().unwrap()).collect();
        assert_eq!(ends, ["c.mrg", "a.mrg", "b.mrg"]);
        let pattern = expand(&[folder.path().join("?.mrg")]).unwrap();
        assert_eq!(pattern, inputs[1..]);
        assert!(expand(&[folder.path().join("*.txt")]).is_err());
    }

    #[test]
    fn an_empty_folder_and_a_missing_file_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        assert!(expand(&[folder.path().to_path_buf()]).is_err());
        assert!(expand(&[folder.path().join("nothing.mrg")]).is_err());
    }

    #[test]
    fn a_bad_byte_is_placed_after_the_good_characters() {
        assert_eq!(Encoding::Utf8.decode(b"\xc3\xa9\xff"), Err(1));
        assert_eq!(Encoding::Latin1.decode(b"\xe9").unwrap(), "\u{e9}");
        assert_eq!(Encoding::Gb18030.decode(b"a\xff").unwrap_err(), 1);
    }
}
