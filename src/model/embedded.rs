//! The models that are part of the executable.

use std::path::Path;

use super::Model;
use crate::error::did_you_mean;
use crate::{Error, Result};

/// The names of the embedded models of English; the first is used where none is named.
pub const NAMES: [&str; 2] = ["english", "english-fast"];

/// Whether a path is the name of an embedded model.
pub fn is_embedded(path: &Path) -> bool {
    NAMES.iter().any(|name| path.as_os_str() == *name)
}

/// The error of a name without a folder or an extension that is neither a file nor an embedded model.
pub(super) fn misspelled(path: &Path) -> Option<Error> {
    let name = path.to_str().filter(|name| !name.contains(['/', '\\', '.']) && !path.exists())?;
    let problem = format!(
        "there is no such file, and no embedded model of this name: {}the embedded models are {}",
        did_you_mean(name, NAMES),
        NAMES.join(" and ")
    );
    Some(Error::Model { path: path.to_path_buf(), problem })
}

/// The embedded model of a name.
///
/// # Errors
/// In a build without the feature `embedded-model`.
pub(super) fn read(name: &Path) -> Result<Model> {
    #[cfg(feature = "embedded-model")]
    return super::file::read_memory(crate::memory::Memory::Static(files::of(name)), name);
    #[cfg(not(feature = "embedded-model"))]
    Err(Error::Model {
        path: name.to_path_buf(),
        problem: "not part of this build: give a model file".to_owned(),
    })
}

#[cfg(feature = "embedded-model")]
mod files {
    use std::path::Path;

    /// A file, aligned for reading in place.
    #[repr(C, align(64))]
    struct Aligned<T: ?Sized>(T);

    static ENGLISH: &Aligned<[u8]> = &Aligned(*include_bytes!("../../data/models/english.srm"));
    static ENGLISH_FAST: &Aligned<[u8]> =
        &Aligned(*include_bytes!("../../data/models/english-fast.srm"));

    /// The bytes of a model.
    pub(super) fn of(name: &Path) -> &'static [u8] {
        let Aligned(bytes) =
            if name.as_os_str() == super::NAMES[0] { ENGLISH } else { ENGLISH_FAST };
        bytes
    }
}
