//! The models that are part of the executable, each by a feature of its name.

use std::path::Path;

use super::Model;
use crate::{Error, Result};

/// The names of the embedded models of English.
pub const NAMES: [&str; 3] = ["english", "english-small", "english-fast"];

/// The model that is used where none is named: the first one that this build has.
pub const DEFAULT: &str = match (cfg!(feature = "english"), cfg!(feature = "english-small")) {
    (false, true) => NAMES[1],
    (false, false) if cfg!(feature = "english-fast") => NAMES[2],
    _ => NAMES[0],
};

/// Whether a path is the name of an embedded model.
pub fn is_embedded(path: &Path) -> bool {
    NAMES.iter().any(|name| path.as_os_str() == *name)
}

/// The embedded model of a name.
///
/// # Errors
/// In a build without the feature of this name.
pub(super) fn read(name: &Path) -> Result<Model> {
    match bytes(name) {
        Some(bytes) => super::file::read_memory(crate::memory::ModelBytes::Static(bytes), name),
        None => Err(Error::Model {
            path: name.to_path_buf(),
            problem:
                "not part of this build: give a model file, or build with the feature of this name"
                    .to_owned(),
        }),
    }
}

/// The bytes of a model, aligned for reading in place.
#[allow(unused_macros)] // in a build without models
macro_rules! aligned {
    ($file:literal) => {{
        #[repr(C, align(64))]
        struct Aligned<T: ?Sized>(T);
        static FILE: &Aligned<[u8]> =
            &Aligned(*include_bytes!(concat!("../../data/models/", $file)));
        Some(&FILE.0)
    }};
}

/// The bytes of the embedded model of a name; `None` in a build without it.
pub fn bytes(name: &Path) -> Option<&'static [u8]> {
    match name.to_str()? {
        #[cfg(feature = "english")]
        "english" => aligned!("english.srm"),
        #[cfg(feature = "english-small")]
        "english-small" => aligned!("english-small.srm"),
        #[cfg(feature = "english-fast")]
        "english-fast" => aligned!("english-fast.srm"),
        _ => None,
    }
}
