//! Pretrained word embeddings: the text format of GloVe and the text and binary formats of word2vec,
//! compressed or not.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use compact_str::CompactString;
use rustc_hash::FxHashSet;

use super::input::Input;
use crate::error::{Error, Place, Result};

/// Words and their embeddings, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PretrainedEmbeddings {
    /// The words, each once; if a word is repeated, its first embedding counts.
    pub words: Vec<CompactString>,
    /// The dimension of the embeddings.
    pub dim: usize,
    /// The embeddings, row by row: `words.len()` × `dim` values.
    pub values: Vec<f32>,
}

/// The largest dimension.
const MAX_DIM: usize = 1 << 16;

impl PretrainedEmbeddings {
    /// Reads the first `max_words` words of a file. The format is recognized by the first line: in word2vec's
    /// formats it has the number of words and the dimension, in GloVe's the first word and its embedding.
    ///
    /// # Errors
    /// When the file cannot be opened, is in none of these formats, or ends too early.
    pub fn read(path: &Path, max_words: usize) -> Result<Self> {
        let input = Input::File(path.to_owned());
        let bytes = BufReader::with_capacity(1 << 18, input.open()?);
        let mut reader =
            Reader { bytes, path, line: 0, seen: FxHashSet::default(), read: Self::default() };
        reader.file(max_words)?;
        Ok(reader.read)
    }
}

struct Reader<'a, R> {
    bytes: BufReader<R>,
    path: &'a Path,
    /// The current line of a text file; the number of words read of a binary file.
    line: u64,
    seen: FxHashSet<CompactString>,
    read: PretrainedEmbeddings,
}

impl<R: Read> Reader<'_, R> {
    fn file(&mut self, max_words: usize) -> Result<()> {
        let Some(first) = self.next_line()? else {
            return Err(self.error("the file is empty"));
        };
        let counts: Vec<Option<usize>> =
            first.split_ascii_whitespace().map(|field| field.parse().ok()).collect();
        let &[Some(words), Some(dim)] = &counts[..] else {
            self.entry(&first)?;
            return self.text(max_words).map(drop);
        };
        self.set_dim(dim)?;
        let binary = self.bytes.fill_buf().map_err(|error| Error::io(self.path, error))?;
        if !is_text(binary) {
            return self.binary(words.min(max_words));
        }
        let read = self.text(max_words)?;
        if read < words && self.read.words.len() < max_words {
            return Err(self.error(&format!("the file ends after {read} of {words} words")));
        }
        Ok(())
    }

    fn set_dim(&mut self, dim: usize) -> Result<()> {
        if !(1..=MAX_DIM).contains(&dim) {
            return Err(self.error(&format!("the dimension must be 1 to {MAX_DIM}, not {dim}")));
        }
        self.read.dim = dim;
        Ok(())
    }

    fn error(&self, problem: &str) -> Error {
        let at = Place::new(self.path.display().to_string(), self.line.max(1), 0);
        Error::syntax(at, format!("{problem}: give embeddings in a format of word2vec or GloVe"))
    }

    fn next_line(&mut self) -> Result<Option<String>> {
        let mut line = Vec::new();
        // No line is longer than the longest embedding.
        let limit = 64 * MAX_DIM as u64;
        let n = self.bytes.by_ref().take(limit).read_until(b'\n', &mut line);
        let n = n.map_err(|error| Error::io(self.path, error))?;
        self.line += 1;
        Ok((n > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
    }

    /// Reads lines until there are `max_words` words; returns how many lines had one.
    fn text(&mut self, max_words: usize) -> Result<usize> {
        let mut read = 0;
        while self.read.words.len() < max_words {
            let Some(line) = self.next_line()? else { break };
            if !line.trim().is_empty() {
                self.entry(&line)?;
                read += 1;
            }
        }
        Ok(read)
    }

    /// Reads a line of text: the word, which may contain spaces, and its numbers.
    fn entry(&mut self, line: &str) -> Result<()> {
        let line = line.trim_end();
        let mut fields: Vec<&str> = line.split(' ').collect();
        if self.read.dim == 0 {
            self.set_dim(fields.len() - 1)?;
        }
        let dim = self.read.dim;
        if fields.len() <= dim {
            return Err(self.error(&format!(
                "expected a word and {} numbers, found {} numbers",
                dim,
                fields.len() - 1
            )));
        }
        let numbers = fields.split_off(fields.len() - dim);
        let mut values = Vec::with_capacity(dim);
        for number in numbers {
            match number.parse::<f32>() {
                Ok(value) if value.is_finite() => values.push(value),
                _ => return Err(self.error(&format!("`{number}` is not a finite number"))),
            }
        }
        self.add(&fields.join(" "), &values);
        Ok(())
    }

    fn binary(&mut self, words: usize) -> Result<()> {
        let mut bytes = vec![0; 4 * self.read.dim];
        for _ in 0..words {
            self.line += 1;
            let mut word = Vec::new();
            let limit = 1 << 16;
            let cut = self.bytes.by_ref().take(limit).read_until(b' ', &mut word);
            cut.map_err(|error| Error::io(self.path, error))?;
            if word.pop() != Some(b' ') || self.bytes.read_exact(&mut bytes).is_err() {
                return Err(self.error(&format!("the file ends in word {}", self.line - 1)));
            }
            let values: Vec<f32> =
                bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            if values.iter().any(|value| !value.is_finite()) {
                return Err(
                    self.error(&format!("the embedding of word {} is not finite", self.line - 1))
                );
            }
            self.add(String::from_utf8_lossy(&word).trim_start(), &values);
        }
        Ok(())
    }

    fn add(&mut self, word: &str, values: &[f32]) {
        if self.seen.insert(word.into()) {
            self.read.words.push(word.into());
            self.read.values.extend_from_slice(values);
        }
    }
}

/// Returns whether the numbers after the first word are written with digits.
fn is_text(bytes: &[u8]) -> bool {
    let numbers = bytes.iter().skip_while(|&&byte| byte != b' ').take_while(|&&byte| byte != b'\n');
    let is_written = |byte: &u8| byte.is_ascii_digit() || b" .-+eE\r".contains(byte);
    numbers.clone().count() > 1 && numbers.take(64).all(is_written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], max_words: usize) -> Result<PretrainedEmbeddings> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        std::fs::write(&path, bytes).unwrap();
        PretrainedEmbeddings::read(&path, max_words)
    }

    fn expected() -> PretrainedEmbeddings {
        PretrainedEmbeddings {
            words: vec!["cat".into(), "a b".into(), "ÿ".into()],
            dim: 2,
            values: vec![0.5, -1.0, 2.0, 1e-3, 0.0, 3.0],
        }
    }

    fn binary() -> Vec<u8> {
        let PretrainedEmbeddings { words, values, .. } = expected();
        let mut bytes = b"3 2\n".to_vec();
        for (word, values) in words.iter().map(|word| word.replace(' ', "_")).zip(values.chunks(2))
        {
            bytes.extend_from_slice(word.as_bytes());
            bytes.push(b' ');
            values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
            bytes.push(b'\n');
        }
        bytes
    }

    #[test]
    fn all_three_formats_are_read() {
        let glove = "cat 0.5 -1\na b 2 1e-3\nÿ 0 3.0\ncat 7 7\n";
        assert_eq!(read(glove.as_bytes(), 9).unwrap(), expected());
        assert_eq!(read(format!("4 2\n{glove}").as_bytes(), 9).unwrap(), expected());
        let mut from_binary = expected();
        from_binary.words[1] = "a_b".into();
        assert_eq!(read(&binary(), 9).unwrap(), from_binary);
        assert_eq!(read(&binary(), 2).unwrap().words.len(), 2);
        assert_eq!(read(glove.as_bytes(), 2).unwrap().words.len(), 2);
    }

    #[test]
    fn malformed_embeddings_are_reported_with_their_line() {
        for (text, what) in [
            ("", "empty"),
            ("cat 1 2\ndog 1\n", ":2: expected a word and 2 numbers"),
            ("cat 1 2\ndog 1 x\n", ":2: `x` is not a finite number"),
            ("cat\n", "1 to 65536"),
            ("2 0\n", "1 to 65536"),
            ("3 2\ncat 0.5 -1\nmore\n", ":3: "),
            ("3 2\ncat 0.5 -1\n", "ends after 1 of 3 words"),
        ] {
            let error = read(text.as_bytes(), 9).unwrap_err().to_string();
            assert!(error.contains(what), "{text:?}: {error}");
        }
        let cut = &binary()[..20];
        assert!(read(cut, 9).unwrap_err().to_string().contains("ends in word 2"));
    }
}
