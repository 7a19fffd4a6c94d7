//! Output files that are complete or not there.

use std::fs::{File, FileType, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
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

/// Finds out whether a file can be written, before there is anything to write.
///
/// # Errors
/// When it cannot: its folder is missing or cannot be written, or it is a folder or a device.
#[cfg(feature = "cli")]
pub(crate) fn check(path: &Path) -> Result<()> {
    Destination::of(path)
        .and_then(|destination| destination.check())
        .map_err(|error| Error::io(path, error))
}

/// The file that a path leads to through symbolic links, whether it exists or not.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        if let Ok(existing) = path.canonicalize() {
            return existing;
        }
        let Ok(target) = path.read_link() else { break };
        path = folder(&path).join(target);
    }
    match (folder(&path).canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// How many symbolic links are followed.
const MAX_LINKS: usize = 40;

/// The names of temporary files begin and end so.
const TEMPORARY: (&str, &str) = (".srparse-", ".tmp");

/// A file that is written as a temporary one in the same folder, which replaces it at the end. An existing file
/// keeps its permissions, and stays as it is without [`OutputFile::finish`]. A pipe is written in place.
///
/// A temporary file is locked as long as its writer lives, and the next writer in its folder deletes those that are
/// not: they were left by a program that was killed.
pub(crate) struct OutputFile {
    /// The name in messages.
    name: PathBuf,
    target: Target,
}

enum Target {
    InPlace(BufWriter<File>),
    Beside { path: PathBuf, temporary: NamedTempFile, out: BufWriter<File> },
}

impl OutputFile {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let target = Destination::of(path).and_then(Destination::open);
        let target = target.map_err(|error| Error::io(path, error))?;
        Ok(Self { name: path.to_owned(), target })
    }

    /// The file as the user named it.
    #[cfg(feature = "cli")]
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Puts the file in its place.
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
            Target::Beside { out, .. } => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::InPlace(out) => out.flush(),
            Target::Beside { out, .. } => out.flush(),
        }
    }
}

/// Where a file goes.
enum Destination {
    Pipe(PathBuf),
    File(PathBuf),
}

impl Destination {
    fn of(path: &Path) -> io::Result<Self> {
        let name = path.as_os_str().as_encoded_bytes();
        if name == b"-" {
            let problem = "standard output cannot be written to here: name a file";
            return Err(io::Error::new(ErrorKind::InvalidInput, problem));
        }
        if name.last().is_some_and(|&end| std::path::is_separator(end.into())) {
            let problem = "a file is written here, not a folder: omit the trailing slash";
            return Err(io::Error::new(ErrorKind::InvalidInput, problem));
        }
        let is_pipe = |kind: FileType| !kind.is_file() && !kind.is_dir() && !is_device(kind);
        // Before links are followed: the one from `/dev/stdout` to a pipe leads to no path.
        if path.metadata().is_ok_and(|existing| is_pipe(existing.file_type())) {
            return Ok(Self::Pipe(path.to_owned()));
        }
        let is_descriptor = is_descriptor(path);
        let path = resolved(path);
        let Ok(existing) = path.metadata() else {
            if is_descriptor {
                let problem = "this is an open file that was deleted: name a file, or write to standard output";
                return Err(io::Error::new(ErrorKind::InvalidInput, problem));
            }
            if path.is_symlink() {
                let problem = "this link leads back to itself: name a file";
                return Err(io::Error::new(ErrorKind::InvalidInput, problem));
            }
            let folder = folder(&path);
            if folder.is_dir() {
                return Ok(Self::File(path));
            }
            let problem = format!("the folder {} is missing: create it first", folder.display());
            return Err(io::Error::new(ErrorKind::NotADirectory, problem));
        };
        if existing.is_dir() {
            return Err(io::Error::new(ErrorKind::IsADirectory, "this is a folder"));
        }
        if is_device(existing.file_type()) {
            let problem = "this is a device: name a file, or a pipe";
            return Err(io::Error::new(ErrorKind::InvalidInput, problem));
        }
        if is_descriptor {
            // Its other users would go on writing to the file that is replaced.
            let problem = "this is an open file: name the file itself, or write to standard output";
            return Err(io::Error::new(ErrorKind::InvalidInput, problem));
        }
        Ok(Self::File(path))
    }

    #[cfg(feature = "cli")]
    fn check(&self) -> io::Result<()> {
        match self {
            // Opening it would wait for a reader.
            Self::Pipe(_) => Ok(()),
            Self::File(path) => temporary(folder(path)).map(drop),
        }
    }

    fn open(self) -> io::Result<Target> {
        Ok(match self {
            Self::Pipe(path) => {
                Target::InPlace(BufWriter::new(OpenOptions::new().write(true).open(path)?))
            }
            Self::File(path) => {
                let folder = folder(&path);
                delete_leftovers(folder);
                let temporary = temporary(folder)?;
                // Its own errors would name the temporary file.
                let out = BufWriter::new(temporary.as_file().try_clone()?);
                Target::Beside { path, temporary, out }
            }
        })
    }
}

/// The folder of a file.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether a path names a file that the program has open, such as `/dev/stdout`.
fn is_descriptor(path: &Path) -> bool {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let folder = folder(&path).canonicalize().unwrap_or_default();
        if folder == Path::new("/dev/fd") || folder.starts_with("/proc") && folder.ends_with("fd") {
            return true;
        }
        let Ok(target) = path.read_link() else { return false };
        path = folder.join(target);
    }
    false
}

fn is_device(kind: FileType) -> bool {
    #[cfg(unix)]
    return {
        use std::os::unix::fs::FileTypeExt;
        kind.is_block_device() || kind.is_char_device()
    };
    #[cfg(not(unix))]
    {
        let _ = kind;
        false
    }
}

/// Creates a locked temporary file.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
    if let Some(permissions) = new_file() {
        builder.permissions(permissions);
    }
    loop {
        let file = builder.tempfile_in(folder)?;
        // Not every file system has locks; without, nobody takes the file for a leftover.
        let _ = file.as_file().lock();
        // Another writer may have deleted it before it was locked.
        if file.path().exists() {
            return Ok(file);
        }
    }
}

/// Deletes the temporary files of programs that were killed.
fn delete_leftovers(folder: &Path) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_temporary = name
            .to_str()
            .is_some_and(|name| name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1));
        let file = is_temporary.then(|| OpenOptions::new().write(true).open(entry.path()).ok());
        if let Some(Some(file)) = file
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

impl Target {
    fn finish(self) -> io::Result<()> {
        let (path, temporary, mut out) = match self {
            Self::InPlace(mut out) => return out.flush(),
            Self::Beside { path, temporary, out } => (path, temporary, out),
        };
        out.flush()?;
        temporary.as_file().sync_all()?;
        if let Ok(existing) = path.metadata() {
            temporary.as_file().set_permissions(existing.permissions())?;
        }
        temporary.persist(path)?;
        Ok(())
    }
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

    #[test]
    fn names_of_folders_and_of_standard_output_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (path, problem) in [
            (folder.path().join("new/"), "omit the trailing slash"),
            (PathBuf::from("-"), "name a file"),
        ] {
            let refused = write(&path, |out| out.write_all(b"new")).unwrap_err().to_string();
            assert!(refused.contains(problem), "{refused}");
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn only_what_a_dead_writer_left_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".srparse-abcdef.tmp");
        std::fs::write(&left, "half").unwrap();
        let mut alive = OutputFile::create(&folder.path().join("one")).unwrap();
        assert!(!left.exists());
        write(&folder.path().join("two"), |out| out.write_all(b"two")).unwrap();
        alive.write_all(b"one").unwrap();
        alive.finish().unwrap();
        assert_eq!(std::fs::read(folder.path().join("one")).unwrap(), b"one");
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
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
        let (absent, dangling) = (folder.path().join("absent"), folder.path().join("dangling"));
        symlink("absent", &dangling).unwrap();
        write(&dangling, |out| out.write_all(b"new")).unwrap();
        assert!(dangling.is_symlink() && !absent.is_symlink());
        let looped = folder.path().join("looped");
        symlink("looped", &looped).unwrap();
        let refused = write(&looped, |out| out.write_all(b"new")).unwrap_err().to_string();
        assert!(
            refused.contains("looped") && refused.contains("leads back to itself"),
            "{refused}"
        );
        assert!(looped.is_symlink());
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "").unwrap();
        let (new, plain_mode) =
            (folder.path().join("new"), plain.metadata().unwrap().permissions());
        write(&new, |out| out.write_all(b"new")).unwrap();
        assert_eq!(new.metadata().unwrap().permissions(), plain_mode);
    }
}
