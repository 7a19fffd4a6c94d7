//! The tensors of safetensors files, by name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use serde::Deserialize;

use super::{read_json, unusable};
use crate::error::{Error, Result};

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// The largest header and index; those of the largest encoders have less than a hundredth of it.
const MAX_HEADER: u64 = 1 << 24;
/// How many bytes are read at a time.
const CHUNK: usize = 1 << 16;

/// The tensors of a folder.
pub(super) struct Tensors {
    /// Where they were looked for: a file, or the index of several.
    pub(super) source: PathBuf,
    files: Vec<TensorFile>,
}

struct TensorFile {
    path: PathBuf,
    file: File,
    header: Metadata,
    /// Where the data begins.
    data: u64,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl Tensors {
    /// Opens the file with the weights, or all files that the index names, and checks their headers.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let single = folder.join(SINGLE);
        if single.exists() {
            let files = vec![TensorFile::open(&single)?];
            return Ok(Self { source: single, files });
        }
        let source = folder.join(INDEX);
        if !source.exists() {
            return Err(no_weights(folder));
        }
        let index: Index = read_json(&source, MAX_HEADER)?;
        let mut names: Vec<&String> = index.weight_map.values().collect();
        names.sort_unstable();
        names.dedup();
        let mut files = Vec::with_capacity(names.len());
        for name in names {
            if Path::new(name).file_name() != Some(name.as_ref()) {
                let problem = format!("`{name}` is not the name of a file in this folder");
                return Err(unusable(&source, format!("{problem}: download the index again")));
            }
            files.push(TensorFile::open(&folder.join(name))?);
        }
        Ok(Self { source, files })
    }

    /// The names that end like this, without this end.
    pub(super) fn prefixes(&self, end: &str) -> Vec<String> {
        let names = self.files.iter().flat_map(|file| file.header.tensors().into_keys());
        let mut prefixes: Vec<String> =
            names.filter_map(|name| name.strip_suffix(end).map(str::to_owned)).collect();
        prefixes.sort_unstable();
        prefixes
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<(&TensorFile, &TensorInfo)> {
        self.files.iter().find_map(|file| Some((file, file.header.info(name)?)))
    }

    /// Reads the tensor with this name, row by row, if it has this shape.
    pub(super) fn read(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let Some((file, info)) = self.find(name) else {
            let problem = format!("no tensor `{name}`: download all files of the encoder again");
            return Err(unusable(&self.source, problem));
        };
        if info.shape != shape {
            let problem = format!(
                "`{name}` has the shape {:?}, but `config.json` asks for {shape:?}: take both files \
                 from the same encoder",
                info.shape
            );
            return Err(unusable(&file.path, problem));
        }
        let (size, number): (usize, fn(&[u8]) -> f32) = match info.dtype {
            Dtype::F32 => (4, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            Dtype::F16 => (2, |b| of_half(u16::from_le_bytes([b[0], b[1]]))),
            Dtype::BF16 => {
                (2, |b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16))
            }
            other => {
                let problem =
                    format!("`{name}` has the type {other:?}: give weights in f32, f16 or bf16");
                return Err(unusable(&file.path, problem));
            }
        };
        let values =
            file.values(info, size, number).map_err(|error| Error::io(&file.path, error))?;
        if values.iter().any(|value| !value.is_finite()) {
            let problem = format!("`{name}` has a value that is not finite: give trained weights");
            return Err(unusable(&file.path, problem));
        }
        Ok(values)
    }
}

impl TensorFile {
    fn open(path: &Path) -> Result<Self> {
        let io = |error| Error::io(path, error);
        let mut file = File::open(path).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        let mut length = [0; 8];
        let cut = || {
            unusable(
                path,
                "the file is truncated or not in the format safetensors: download it again",
            )
        };
        file.read_exact(&mut length).map_err(|_| cut())?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER || length > size.saturating_sub(8) {
            return Err(cut());
        }
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(io)?;
        let header: Metadata = serde_json::from_slice(&header).map_err(|error| {
            unusable(path, format!("the header is malformed ({error}): download the file again"))
        })?;
        let data = 8 + length;
        if header.data_len() as u64 != size - data {
            let problem = format!(
                "the file has {size} bytes, but its header asks for {}: download it again",
                data.saturating_add(header.data_len() as u64)
            );
            return Err(unusable(path, problem));
        }
        Ok(Self { path: path.to_path_buf(), file, header, data })
    }

    /// The numbers of a tensor; each is made of `size` bytes.
    fn values(
        &self,
        info: &TensorInfo,
        size: usize,
        number: fn(&[u8]) -> f32,
    ) -> std::io::Result<Vec<f32>> {
        let (start, end) = info.data_offsets;
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.data + start as u64))?;
        let mut values = Vec::with_capacity((end - start) / size);
        let mut bytes = vec![0; CHUNK.min(end - start)];
        let mut left = end - start;
        while left > 0 {
            let chunk = &mut bytes[..CHUNK.min(left)];
            file.read_exact(chunk)?;
            values.extend(chunk.chunks_exact(size).map(number));
            left -= chunk.len();
        }
        Ok(values)
    }
}

/// The number with these bits in half precision.
pub(super) fn of_half(bits: u16) -> f32 {
    let (exponent, fraction) = (bits >> 10 & 31, u32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction as f32 * f32::from_bits((127 - 24) << 23),
        31 => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((u32::from(exponent) + 127 - 15) << 23 | fraction << 13),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// A message about a folder without weights that can be read.
fn no_weights(folder: &Path) -> Error {
    let torch = folder.join("pytorch_model.bin");
    if torch.exists() {
        let advice = "it has `pytorch_model.bin` only: convert it in this folder by `python -c \
                      \"import torch, safetensors.torch as s; s.save_file({k: v.clone() for k, v in \
                      torch.load('pytorch_model.bin', map_location='cpu', weights_only=True).items()}, \
                      'model.safetensors')\"`";
        return unusable(folder, advice);
    }
    unusable(
        folder,
        format!("no `{SINGLE}` and no `{INDEX}` in this folder: download the encoder's weights"),
    )
}
