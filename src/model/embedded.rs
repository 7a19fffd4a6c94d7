//! The models that are part of the executable.

use std::path::Path;

use super::{Model, file};
use crate::Result;
use crate::memory::Memory;

/// The names of the embedded models of English; the first is used where none is named.
pub const NAMES: [&str; 2] = ["english", "english-fast"];

/// A file, aligned for reading in place.
#[cfg(feature = "embedded-model")]
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

#[cfg(feature = "embedded-model")]
static ENGLISH: &Aligned<[u8]> = &Aligned(*include_bytes!("../../data/models/english.srm"));
#[cfg(feature = "embedded-model")]
static ENGLISH_FAST: &Aligned<[u8]> =
    &Aligned(*include_bytes!("../../data/models/english-fast.srm"));

/// Whether a path is the name of an embedded model.
pub fn is_embedded(path: &Path) -> bool {
    NAMES.iter().any(|name| path.as_os_str() == *name)
}

/// The embedded model of a name.
///
/// # Errors
/// In a build without the feature `embedded-model`.
#[cfg(feature = "embedded-model")]
pub(super) fn read(name: &Path) -> Result<Model> {
    let Aligned(bytes) = if name.as_os_str() == NAMES[0] { ENGLISH } else { ENGLISH_FAST };
    file::read_memory(Memory::Static(bytes), name)
}

/// An error: the models are not part of this build.
#[cfg(not(feature = "embedded-model"))]
pub(super) fn read(name: &Path) -> Result<Model> {
    Err(crate::Error::Model {
        path: name.to_path_buf(),
        problem: "not part of this build: give a model file".to_owned(),
    })
}
