//! Arrays of a model: owned, or read in place from a mapped file or from the executable.

use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;

use crate::{Error, Result};

/// The first bytes of a model file.
pub const MODEL_MAGIC: &[u8; 8] = b"SRPARSE\0";

/// The bytes from which arrays are read in place, aligned to 64 bytes.
#[derive(Debug)]
pub enum ModelBytes {
    /// Part of the executable.
    Static(&'static [u8]),
    /// A file mapped into memory.
    Mapped(memmap2::Mmap),
    /// Owned bytes in 8-byte words, and the number of bytes.
    Owned(Vec<u64>, usize),
}

impl ModelBytes {
    /// Copies bytes into aligned memory.
    pub fn owned(bytes: &[u8]) -> Self {
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self::Owned(words, bytes.len())
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Mapped(map) => map,
            Self::Owned(words, len) => &bytemuck::cast_slice(words)[..*len],
        }
    }
}

/// A read-only array.
#[derive(Debug, Clone)]
pub enum Array<T> {
    /// Owned values.
    Owned(Vec<T>),
    /// A range of bytes of shared memory.
    Shared(Arc<ModelBytes>, Range<usize>),
}

impl<T: Pod> Array<T> {
    /// Returns the array at a byte range; `None` if the range is out of bounds, not a multiple of the element
    /// size, or not aligned for it.
    pub fn shared(memory: &Arc<ModelBytes>, range: Range<usize>) -> Option<Self> {
        let bytes = memory.bytes().get(range.clone())?;
        bytemuck::try_cast_slice::<u8, T>(bytes).ok()?;
        Some(Self::Shared(Arc::clone(memory), range))
    }
}

impl<T: Pod> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Owned(values) => values,
            Self::Shared(memory, range) => bytemuck::cast_slice(&memory.bytes()[range.clone()]),
        }
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Owned(values)
    }
}

/// The element types of sections.
pub trait Element: Pod {
    /// The name of the type in a model file.
    const NAME: &'static str;
    /// Whether a model may have the value: a score may be minus infinity, for what was never seen, but no other
    /// number is infinite, and none is undefined.
    fn is_possible(self) -> bool {
        true
    }
}

impl Element for u8 {
    const NAME: &'static str = "u8";
}
impl Element for i8 {
    const NAME: &'static str = "i8";
}
impl Element for u16 {
    const NAME: &'static str = "u16";
}
impl Element for u32 {
    const NAME: &'static str = "u32";
}
impl Element for u64 {
    const NAME: &'static str = "u64";
}
impl Element for f32 {
    const NAME: &'static str = "f32";
    fn is_possible(self) -> bool {
        self < f32::INFINITY
    }
}

/// A named array of a model, as bytes.
#[derive(Debug, Clone)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// The name of its element type.
    pub element: String,
    /// The bytes.
    pub bytes: Array<u8>,
}

/// The arrays of a model, in order. Names of nested components are separated by `/`.
#[derive(Debug, Clone, Default)]
pub struct Sections(pub Vec<Section>);

impl Sections {
    /// Adds an array.
    pub fn put<T: Element>(&mut self, name: &str, values: Array<T>) {
        let bytes = match values {
            Array::Shared(memory, range) => Array::Shared(memory, range),
            Array::Owned(values) => Array::Owned(bytemuck::cast_slice(&values).to_vec()),
        };
        self.0.push(Section { name: name.to_owned(), element: T::NAME.to_owned(), bytes });
    }

    /// Adds the arrays of a component.
    pub fn put_part(&mut self, part: &str, sections: Self) {
        self.0.extend(
            sections
                .0
                .into_iter()
                .map(|section| Section { name: format!("{part}/{}", section.name), ..section }),
        );
    }

    /// Returns the arrays of a component; empty if there is no such component.
    #[must_use]
    pub fn part(&self, part: &str) -> Self {
        let inside = |section: &Section| {
            let name = section.name.strip_prefix(part)?.strip_prefix('/')?.to_owned();
            Some(Section { name, ..section.clone() })
        };
        Self(self.0.iter().filter_map(inside).collect())
    }

    /// Returns the array of this name, without copying it if it is in shared memory.
    ///
    /// # Errors
    /// When there is no array of this name and type, or it has an impossible number.
    pub fn get<T: Element>(&self, name: &str) -> Result<Array<T>> {
        let array = self.any::<T>(name)?;
        if array.iter().all(|&value| value.is_possible()) {
            return Ok(array);
        }
        Err(Error::Corrupt(format!("section `{name}` has a number that is not finite")))
    }

    fn any<T: Element>(&self, name: &str) -> Result<Array<T>> {
        let lacks = || Error::Corrupt(format!("section `{name}` is missing, or of another type"));
        let section =
            self.0.iter().find(|section| section.name == name && section.element == T::NAME);
        match &section.ok_or_else(lacks)?.bytes {
            Array::Shared(memory, range) => Array::shared(memory, range.clone()).ok_or_else(lacks),
            Array::Owned(bytes) => {
                let size = size_of::<T>();
                if !bytes.len().is_multiple_of(size) {
                    return Err(lacks());
                }
                Ok(Array::Owned(
                    bytes.chunks_exact(size).map(bytemuck::pod_read_unaligned).collect(),
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_arrays_apart() {
        let mut inner = Sections::default();
        inner.put::<u8>("a", vec![1].into());
        let mut all = Sections::default();
        all.put::<u8>("a", vec![2].into());
        all.put_part("first", inner);
        assert_eq!(&*all.get::<u8>("a").unwrap(), [2]);
        assert_eq!(&*all.part("first").get::<u8>("a").unwrap(), [1]);
        assert!(all.part("fir").0.is_empty());
    }

    #[test]
    fn numbers_that_no_training_gives_are_refused() {
        for (number, is_possible) in
            [(f32::NAN, false), (f32::INFINITY, false), (f32::NEG_INFINITY, true), (f32::MAX, true)]
        {
            let mut sections = Sections::default();
            sections.put::<f32>("a", vec![0.0, number].into());
            assert_eq!(sections.get::<f32>("a").is_ok(), is_possible, "{number}");
        }
    }

    #[test]
    fn a_range_outside_or_misaligned_is_refused() {
        let memory = Arc::new(ModelBytes::owned(&[1, 0, 0, 0, 2, 0, 0, 0]));
        assert_eq!(&*Array::<u32>::shared(&memory, 0..8).unwrap(), [1, 2]);
        assert!(Array::<u32>::shared(&memory, 0..6).is_none());
        assert!(Array::<u32>::shared(&memory, 1..5).is_none());
        assert!(Array::<u32>::shared(&memory, 4..12).is_none());
    }
}
