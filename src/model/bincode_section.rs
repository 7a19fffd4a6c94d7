//! Structured values stored as sections of bytes in bincode format.
//!
//! The bytes do not describe their type: a changed type needs a new format version in [`super::file`].

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// Stores a value as a section.
///
/// # Errors
/// When the value cannot be encoded.
pub fn put<T: Serialize>(sections: &mut Sections, name: &str, value: &T) -> Result<()> {
    let bytes = bincode::serde::encode_to_vec(value, bincode::config::standard())
        .map_err(|error| Error::Corrupt(format!("section `{name}`: {error}")))?;
    sections.put::<u8>(name, bytes.into());
    Ok(())
}

/// Reads a value back.
///
/// # Errors
/// When the section is missing or does not contain such a value.
pub fn get<T: DeserializeOwned>(sections: &Sections, name: &str) -> Result<T> {
    let bytes: Array<u8> = sections.get(name)?;
    // A corrupt section may claim any length. Borrowed strings are looked up before they are copied.
    let config = bincode::config::standard().with_limit::<{ 1 << 30 }>();
    match bincode::serde::borrow_decode_from_slice(&bytes, config) {
        Ok((value, used)) if used == bytes.len() => Ok(value),
        _ => Err(Error::Corrupt(format!("section `{name}` has other contents than its name says"))),
    }
}
