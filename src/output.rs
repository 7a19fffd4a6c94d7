//! Output files that are complete or not there.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::{Error, Result};

/// Writes a file: first a temporary one in the same directory, which then replaces the file. An existing
/// file keeps its permissions, and stays as it is after an error. What is no regular file, such as a pipe,
/// is written in place.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(
    path: &Path,
    contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    try_write(path, contents).map_err(|error| Error::io(path, error))
}

fn try_write(
    path: &Path,
    contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // Through symbolic links: the file that they lead to is replaced, not the link.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let existing = path.metadata().ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        return fill(&OpenOptions::new().write(true).open(path)?, contents);
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    if let Some(permissions) = new_file() {
        builder.permissions(permissions);
    }
    let temporary = builder.tempfile_in(directory)?;
    fill(temporary.as_file(), contents)?;
    temporary.as_file().sync_all()?;
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions())?;
    }
    temporary.persist(path)?;
    Ok(())
}

fn fill(file: &File, contents: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    contents(&mut out)?;
    out.flush()
}

/// The permissions of new files, from which the user's mask is taken; temporary files have fewer.
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
