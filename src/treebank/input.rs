//! Inputs: files and standard input, compressed or not, and their encoding.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::encoded;
use crate::error::{Error, Result, did_you_mean};

/// One source of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file.
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

    /// Opens the input for reading, decompressed if it begins as gzip does.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be opened, is compressed by another program, or is UTF-16 or UTF-32.
    pub fn open(&self) -> Result<Box<dyn Read + Send>> {
        self.open_counted(&ByteCounter::default())
    }

    /// Opens the input for reading; `counter` counts the stored bytes that have been read.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub fn open_counted(&self, counter: &ByteCounter) -> Result<Box<dyn Read + Send>> {
        let (stream, path): (Box<dyn Read + Send>, _) = match self {
            Self::Stdin => (Box::new(io::stdin()), None),
            Self::File(path) => {
                let file = File::open(path).map_err(|source| Error::io(path, source))?;
                (Box::new(Counted { file, counter: counter.clone() }), path.to_str())
            }
        };
        encoded::plain(stream, path).map_err(|source| Error::io(self.name(), source))
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

/// The encoding of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// What an XML file declares; otherwise UTF-8.
    #[default]
    Auto,
    /// UTF-8, with or without a byte-order mark.
    Utf8,
    /// GB18030, a superset of GBK and GB2312 (the Chinese Treebank).
    Gb18030,
    /// Windows-1252, a superset of Latin-1.
    Latin1,
}

impl Encoding {
    /// The names that [`FromStr`] accepts and messages list.
    pub const NAMES: [&'static str; 4] = ["auto", "utf-8", "gb18030", "latin-1"];

    /// Returns the decoder; `None` for UTF-8, also if the encoding is not known, which is validated rather than decoded.
    pub(super) fn table(self) -> Option<&'static encoding_rs::Encoding> {
        match self {
            Self::Auto | Self::Utf8 => None,
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
            Self::Auto | Self::Utf8 => {
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
            "auto" => Ok(Self::Auto),
            "utf-8" | "utf8" => Ok(Self::Utf8),
            "gb18030" | "gbk" | "gb2312" => Ok(Self::Gb18030),
            "latin-1" | "latin1" | "iso-8859-1" | "windows-1252" | "cp1252" => Ok(Self::Latin1),
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
        assert!(message.contains("auto, utf-8, gb18030, latin-1"), "{message}");
        for name in Encoding::NAMES {
            assert_eq!(name.parse::<Encoding>().unwrap().to_string(), name);
        }
        for name in ["latin-1", "ISO-8859-1", "windows-1252", "cp1252"] {
            assert_eq!(name.parse::<Encoding>().unwrap(), Encoding::Latin1);
        }
    }

    #[test]
    fn a_bad_byte_is_placed_after_the_good_characters() {
        assert_eq!(Encoding::Utf8.decode(b"\xc3\xa9\xff"), Err(1));
        assert_eq!(Encoding::Latin1.decode(b"\xe9").unwrap(), "\u{e9}");
        assert_eq!(Encoding::Gb18030.decode(b"a\xff").unwrap_err(), 1);
    }
}
