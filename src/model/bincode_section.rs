//! Small structured sections, through `bincode`: the only place that uses it.
//!
//! These sections do not describe themselves: a changed type needs a new format version in
//! [`super::file`].

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// Adds a value as a section of bytes.
///
/// # Errors
/// When the value holds something that cannot be written.
pub fn put<T: Serialize>(sections: &mut Sections, name: &str, value: &T) -> Result<()> {
    let bytes = bincode::serde::encode_to_vec(value, bincode::config::standard())
        .map_err(|error| Error::Unfit(format!("section `{name}`: {error}")))?;
    sections.put::<u8>(name, bytes.into());
    Ok(())
}

/// Reads a value back.
///
/// # Errors
/// When the section is missing or does not hold such a value.
pub fn get<T: DeserializeOwned>(sections: &Sections, name: &str) -> Result<T> {
    let bytes: Array<u8> = sections.get(name)?;
    // No value is larger than its section, whatever lengths a broken section claims.
    let config = bincode::config::standard().with_limit::<{ 1 << 30 }>();
    match bincode::serde::decode_from_slice(&bytes, config) {
        Ok((value, used)) if used == bytes.len() => Ok(value),
        Ok(_) => Err(Error::Unfit(format!("section `{name}` is longer than its content"))),
        Err(error) => Err(Error::Unfit(format!("section `{name}`: {error}"))),
    }
}
