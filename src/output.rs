//! Output files that are either complete or absent.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, Result};

/// Writes a file; see [`OutputFile`].
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(
    path: &Path,
    contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let mut file = OutputFile::create(path)?;
    contents(&mut file).map_err(|error| Error::io(path, error))?;
    file.finish()
}

/// A file that is written under a temporary name in the same directory and replaces the target in the end. An
/// existing file keeps its permissions, and stays unchanged without [`OutputFile::finish`]. A target that is not
/// a regular file, such as a pipe, is written in place.
pub(crate) struct OutputFile {
    /// The path in messages.
    name: PathBuf,
    target: Target,
}

enum Target {
    InPlace(BufWriter<File>),
    Beside { path: PathBuf, permissions: Option<Permissions>, temporary: BufWriter<NamedTempFile> },
}

impl OutputFile {
    /// Creates a file.
    ///
    /// # Errors
    /// When the file cannot be created there.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let target = Target::open(path).map_err(|error| Error::io(path, error))?;
        Ok(Self { name: path.to_owned(), target })
    }

    /// Moves the file to its target.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn finish(self) -> Result<()> {
        self.target.finish().map_err(|error| Error::io(&self.name, error))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::InPlace(out) => out.write(bytes),
            Target::Beside { temporary, .. } => temporary.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::InPlace(out) => out.flush(),
            Target::Beside { temporary, .. } => temporary.flush(),
        }
    }
}

impl Target {
    fn open(path: &Path) -> io::Result<Self> {
        // Symbolic links are followed: the file that they lead to is replaced, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let existing = path.metadata().ok();
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self::InPlace(BufWriter::new(file)));
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        if let Some(permissions) = new_file() {
            builder.permissions(permissions);
        }
        let temporary = BufWriter::new(builder.tempfile_in(directory)?);
        let permissions = existing.map(|existing| existing.permissions());
        Ok(Self::Beside { path, permissions, temporary })
    }

    fn finish(self) -> io::Result<()> {
        let (path, permissions, temporary) = match self {
            Self::InPlace(mut out) => return out.flush(),
            Self::Beside { path, permissions, temporary } => (path, permissions, temporary),
        };
        let temporary = temporary.into_inner().map_err(io::IntoInnerError::into_error)?;
        temporary.as_file().sync_all()?;
        if let Some(permissions) = permissions {
            temporary.as_file().set_permissions(permissions)?;
        }
        temporary.persist(path)?;
        Ok(())
    }
}

/// The permissions of new files under the user's mask; temporary files have fewer permissions.
fn new_file() -> Option<Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_or_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write(&path, |out| out.write_all(b"one")).unwrap();
        write(&path, |out| out.write_all(b"two")).unwrap();
        let failed = write(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("full"))
        });
        assert!(failed.unwrap_err().to_string().contains("full"));
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1, "no temporary file is left");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("out"), folder.path().join("link"));
        std::fs::write(&path, "one").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write(&link, |out| out.write_all(b"two")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "").unwrap();
        let (new, plain_mode) =
            (folder.path().join("new"), plain.metadata().unwrap().permissions());
        write(&new, |out| out.write_all(b"new")).unwrap();
        assert_eq!(new.metadata().unwrap().permissions(), plain_mode);
    }
}
