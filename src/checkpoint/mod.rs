//! Pretrained encoders as users have them: folders in the layout of Hugging Face.
//!
//! A folder has `config.json` (sizes), `model.safetensors` or several such files with
//! `model.safetensors.index.json` (weights, in f32, f16 or bf16), and `tokenizer.json` or `vocab.txt` (pieces). The
//! families are those of [`Family`]; whatever else a folder describes is refused with a message. Nothing is allocated
//! before its size is checked: sizes against fixed limits, tensors against `config.json` and the size of their file.

mod config;
mod tensors;
mod weights;

use std::path::{Path, PathBuf};

pub use config::{Config, Family};
pub use weights::{LayerWeights, Weights};

use crate::error::{Error, Result};
use crate::pieces::PieceTokenizer;
use crate::pieces::read::{parse, unusable};
use crate::text_file;

/// A folder with a pretrained encoder.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    folder: PathBuf,
    config: Config,
}

impl Checkpoint {
    /// Opens a folder: reads and checks `config.json`.
    ///
    /// # Errors
    /// When there is no such folder, or its `config.json` is missing, malformed, of another family, or has a size
    /// that is impossible.
    pub fn open(folder: &Path) -> Result<Self> {
        let metadata = std::fs::metadata(folder).map_err(|error| Error::io(folder, error))?;
        if !metadata.is_dir() {
            let problem = "not a folder: give the folder of the encoder, with `config.json`, \
                           `model.safetensors` and `tokenizer.json` or `vocab.txt` in it";
            return Err(unusable(folder, problem));
        }
        let config = config::read(&folder.join("config.json"))?;
        Ok(Self { folder: folder.to_path_buf(), config })
    }

    /// The sizes of the encoder.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the tokenizer.
    ///
    /// # Errors
    /// When it is missing, malformed, of an unknown kind, or has more pieces than `config.json` says.
    pub fn tokenizer(&self) -> Result<PieceTokenizer> {
        let tokenizer = PieceTokenizer::read(&self.folder)?;
        let (pieces, rows) = (tokenizer.len(), self.config.vocabulary);
        if pieces > rows {
            let problem =
                format!("the tokenizer has {pieces} pieces, but `config.json` says {rows}");
            return Err(unusable(
                &self.folder,
                format!("{problem}: take both from the same encoder"),
            ));
        }
        Ok(tokenizer)
    }

    /// Reads the weights.
    ///
    /// # Errors
    /// When a file is missing, truncated or malformed, or a tensor is missing, of another shape than `config.json`
    /// says, of another type than f32, f16 or bf16, or has a value that is not finite.
    pub fn weights(&self) -> Result<Weights> {
        weights::read(&self.folder, &self.config)
    }
}

/// Reads a JSON file of at most `limit` bytes.
fn read_json<T: serde::de::DeserializeOwned>(path: &Path, limit: u64) -> Result<T> {
    let bytes = text_file::read_bytes(path, limit)?.ok_or_else(|| {
        unusable(path, format!("larger than {limit} bytes: give the file of an encoder"))
    })?;
    parse(path, &bytes)
}

#[cfg(test)]
mod tests;
