//! Streams that are no plain text, by their first bytes: compressed ones, UTF-16 and UTF-32, documents.

use std::io::{self, BufReader, Cursor, ErrorKind, Read};

use flate2::read::MultiGzDecoder;

use crate::text_file::read_some;

/// The beginnings of streams that are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gzip,
    /// Compressed by this program.
    Other(&'static str),
    /// Text in an encoding of this name.
    Encoded(&'static str),
    /// A document that contains more than text.
    Document(&'static str),
}

/// The first bytes of kinds.
const SIGNATURES: [(&[u8], Kind); 11] = [
    (b"\x1f\x8b\x08", Kind::Gzip),
    (b"\xfd7zXZ\0", Kind::Other("xz")),
    (b"\x28\xb5\x2f\xfd", Kind::Other("zstd")),
    (b"BZh", Kind::Other("bzip2")),
    (b"\xff\xfe\0\0", Kind::Encoded("UTF-32")),
    (b"\0\0\xfe\xff", Kind::Encoded("UTF-32")),
    (b"\xff\xfe", Kind::Encoded("UTF-16")),
    (b"\xfe\xff", Kind::Encoded("UTF-16")),
    (b"PK\x03\x04", Kind::Document("a zip archive or a document such as .docx or .odt")),
    (b"\xd0\xcf\x11\xe0", Kind::Document("a document such as .doc")),
    (b"%PDF-", Kind::Document("a PDF document")),
];
/// Maximum number of bytes that are examined.
const LOOK: usize = 10;
/// Maximum number of bytes that are read at first: enough to recognize a format.
const MAX_READ: usize = 4096;
/// The bytes after `BZh` and a digit.
const BZIP2_BLOCKS: [&[u8]; 2] = [b"1AY&SY", b"\x17rE8P\x90"];

/// Returns a stream of the text that a stream contains, decompressed; `name` is that of the file, if it is one.
///
/// # Errors
/// When the stream fails, is compressed by another program than gzip, is UTF-16 or UTF-32, or is a document.
pub(super) fn plain(
    stream: Box<dyn Read + Send>,
    name: Option<&str>,
) -> io::Result<Box<dyn Read + Send>> {
    opened(stream, name, false)
}

fn opened(
    mut stream: Box<dyn Read + Send>,
    name: Option<&str>,
    is_decompressed: bool,
) -> io::Result<Box<dyn Read + Send>> {
    let (start, is_all) = beginning(&mut stream)?;
    let found = kind(&start);
    let start = Cursor::new(start);
    // A terminal that is read again after its end waits for more.
    let stream: Box<dyn Read + Send> =
        if is_all { Box::new(start) } else { Box::new(start.chain(stream)) };
    let problem = match found {
        None => return Ok(stream),
        // A concatenation of compressed files (`cat a.gz b.gz`) is one file.
        Some(Kind::Gzip) if !is_decompressed => {
            let stream = Box::new(Gunzip(MultiGzDecoder::new(BufReader::new(stream))));
            return opened(stream, None, true);
        }
        Some(Kind::Gzip) => "compressed again by gzip".to_owned(),
        Some(Kind::Other(program)) => {
            let name = name.map(|name| format!(" '{name}'")).unwrap_or_default();
            format!(
                "compressed by {program}, and only gzip is read: write {program} -dc{name} | srparse …"
            )
        }
        Some(Kind::Encoded(encoding)) => {
            let name = name.map(|name| format!(" '{name}'")).unwrap_or_default();
            format!("{encoding} text: convert it, as with iconv -f {encoding} -t UTF-8{name}")
        }
        Some(Kind::Document(what)) => format!("{what}, not plain text: save it as text first"),
    };
    let problem = if is_decompressed {
        format!("decompress it with gzip -dc first: inside, it is {problem}")
    } else {
        problem
    };
    Err(io::Error::new(ErrorKind::Unsupported, problem))
}

/// Decompressed text; its errors say that the compressed text is at fault.
struct Gunzip<R>(MultiGzDecoder<R>);

impl<R: io::BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                let problem = format!(
                    "the gzip file is cut off or damaged ({error}): get it again, or save what can be read with gzip -dc"
                );
                io::Error::new(error.kind(), problem)
            }
            _ => error,
        })
    }
}

/// Reads the beginning of a stream; returns it, and whether it is the whole stream. It is the result of a single read, so
/// that a program at the other end of a pipe need not send more than its first line, unless it may be a part of a
/// signature.
fn beginning(stream: &mut dyn Read) -> io::Result<(Vec<u8>, bool)> {
    let mut buffer = vec![0; MAX_READ];
    let mut length = 0;
    let is_begun = |start: &[u8]| {
        let is_part = SIGNATURES.iter().any(|(bytes, _)| bytes.starts_with(start));
        let is_open = [&b"BZh"[..], b"%PDF-"].iter().any(|letters| start.starts_with(letters));
        start.len() < LOOK && (is_part || is_open)
    };
    let mut is_all = false;
    while !is_all && is_begun(&buffer[..length]) {
        let read = read_some(stream, &mut buffer[length..])?;
        length += read;
        is_all = read == 0;
    }
    buffer.truncate(length);
    Ok((buffer, is_all))
}

fn kind(start: &[u8]) -> Option<Kind> {
    let found =
        SIGNATURES.iter().find(|(bytes, _)| start.starts_with(bytes)).map(|&(_, kind)| kind);
    match found {
        // Text may begin with these letters.
        Some(Kind::Other("bzip2")) => {
            let blocks = start.get(4..LOOK).unwrap_or_default();
            found.filter(|_| BZIP2_BLOCKS.contains(&blocks))
        }
        Some(Kind::Document("a PDF document")) => found.filter(|_| is_pdf(start)),
        Some(kind) => Some(kind),
        None => match start {
            // ASCII in 16 bits a character.
            [0, 1..128, 0, 1..128, ..] | [1..128, 0, 1..128, 0, ..] => {
                Some(Kind::Encoded("UTF-16"))
            }
            _ => None,
        },
    }
}

/// Whether the first line is that of a PDF document: nothing follows the version, as in `%PDF-1.4`.
fn is_pdf(start: &[u8]) -> bool {
    let line = start.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let version = line.strip_prefix(b"%PDF-").unwrap_or_default().trim_ascii_end();
    matches!(version, [b'0'..=b'9', b'.', b'0'..=b'9'])
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn text_is_no_signature() {
        for text in [
            "",
            "B",
            "BZh",
            "BZh91 is a program",
            "%PDF-",
            "%PDF-1.5 is a header.\n",
            "(S (A a))",
            "\u{feff}a",
            "a\0b",
        ] {
            assert_eq!(kind(text.as_bytes()), None, "{text}");
            let mut read = String::new();
            plain(Box::new(text.as_bytes()), None).unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn a_document_has_a_line_for_its_version() {
        for start in [&b"%PDF-1.4\n%"[..], b"%PDF-2.0\r\n", b"%PDF-1.7 \r%\xe2"] {
            assert_eq!(kind(start), Some(Kind::Document("a PDF document")));
        }
    }

    #[test]
    fn what_is_compressed_is_examined_too() {
        let gzip = |bytes: &[u8]| {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        };
        let utf_16 = gzip(b"\xff\xfea\0b\0");
        for (bytes, says) in
            [(utf_16, "UTF-16 text"), (gzip(&gzip(b"a")), "compressed again by gzip")]
        {
            let problem = plain(Box::new(Cursor::new(bytes)), Some("a.gz")).err().unwrap();
            assert!(problem.to_string().contains(says), "{problem}");
        }
    }

    #[test]
    fn a_line_of_a_pipe_is_not_waited_for() {
        struct Line(u32);
        impl Read for Line {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                assert_eq!(self.0, 1, "a second read would wait");
                buffer[..2].copy_from_slice(b"a\n");
                Ok(2)
            }
        }
        assert!(plain(Box::new(Line(0)), None).is_ok());
    }
}
