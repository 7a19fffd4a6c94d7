//! Files, folders and patterns as the files to read.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::input::Input;
use crate::error::{Error, Result};

/// The inputs that paths stand for.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The inputs, in the order in which they are read.
    pub found: Vec<Input>,
    /// The files that are not read although they may have been meant, each with its reason.
    pub left_out: Vec<String>,
}

/// Expands paths into the inputs to read, in order.
///
/// A folder stands for all files in it and its subfolders, sorted by path, without hidden ones; links to folders in it
/// are not followed, and files that describe a folder, such as README, are left out. A path that does not exist and
/// contains `*`, `?` or `[` is a pattern, in which `**` stands for any number of such subfolders. `-` is standard input.
/// A file that is reached twice, by any path, is read once.
///
/// # Errors
/// When a path does not exist, a folder has no files, a pattern is malformed or matches nothing, or standard input
/// occurs twice.
pub fn expand(paths: &[PathBuf]) -> Result<Inputs> {
    let mut inputs = Inputs::default();
    let mut seen = HashSet::new();
    for path in paths {
        if path.as_os_str() == "-" {
            if inputs.found.contains(&Input::Stdin) {
                return Err(Error::config(
                    "-",
                    "standard input can be read only once: give `-` only once",
                ));
            }
            inputs.found.push(Input::Stdin);
            continue;
        }
        for file in files(path, &mut inputs.left_out)? {
            if identity(&file).is_none_or(|identity| seen.insert(identity)) {
                inputs.found.push(Input::File(file));
            } else {
                inputs.left_out.push(format!("{}: this file is read already", file.display()));
            }
        }
    }
    Ok(inputs)
}

/// Returns the files that a path stands for, sorted.
fn files(path: &Path, left_out: &mut Vec<String>) -> Result<Vec<PathBuf>> {
    if path.is_dir() {
        return files_below(path, left_out);
    }
    if path.exists() || !is_pattern(path) {
        // Fail now rather than after reading the files before it.
        path.metadata().map_err(|source| Error::io(path, source))?;
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    let found = matches(path, left_out)?;
    let is_alone = found.len() == 1;
    for found in found {
        match found.metadata() {
            Ok(metadata) if metadata.is_dir() => files.extend(files_below(&found, left_out)?),
            Ok(_) => files.push(found),
            Err(source) if is_alone => return Err(Error::io(found, source)),
            Err(_) => left_out.push(dangling(&found)),
        }
    }
    // A pattern may match a folder and the files in it.
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

/// The identity of a regular file, whatever its path; `None` for pipes, which can be given twice.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok().filter(Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    path.metadata().ok().filter(Metadata::is_file)?;
    path.canonicalize().ok()
}

fn is_pattern(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains(['*', '?', '[']))
}

/// How patterns are matched.
const OPTIONS: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// Returns the existing paths that match a pattern, sorted.
fn matches(path: &Path, left_out: &mut Vec<String>) -> Result<Vec<PathBuf>> {
    let text = path.to_string_lossy();
    let invalid = |problem: glob::PatternError| {
        Error::config(text.as_ref(), format!("invalid pattern: {problem}"))
    };
    let pattern = glob::Pattern::new(&text).map_err(invalid)?;
    let is_recursive = |component: &Component<'_>| component.as_os_str() == "**";
    let before: PathBuf = path.components().take_while(|part| !is_recursive(part)).collect();
    let mut paths = Vec::new();
    if path.components().any(|part| is_recursive(&part)) {
        let roots = if before.as_os_str().is_empty() {
            vec![PathBuf::new()]
        } else {
            globbed(&before).map_err(invalid)?
        };
        for root in roots {
            let walk = Walk::new(&root, left_out)?;
            paths.extend(walk.files.into_iter().chain(walk.folders));
        }
        paths.retain(|path| pattern.matches_path_with(path, OPTIONS));
        paths.sort_unstable();
    } else {
        paths = globbed(path).map_err(invalid)?;
    }
    if paths.is_empty() {
        return Err(Error::config(text.as_ref(), "no file matches this pattern"));
    }
    Ok(paths)
}

/// Returns the existing paths that match a pattern without `**`, sorted; folders that cannot be read match nothing.
///
/// Not by `glob::glob`, which panics on names that are not UTF-8.
fn globbed(pattern: &Path) -> Result<Vec<PathBuf>, glob::PatternError> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let part = Path::new(part.as_os_str());
        if !is_pattern(part) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let part = glob::Pattern::new(&part.to_string_lossy())?;
        let entries = |folder: &PathBuf| {
            let start = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let names =
                start.read_dir().into_iter().flatten().flatten().map(|entry| entry.file_name());
            let names = names.filter(|name| part.matches_with(&name.to_string_lossy(), OPTIONS));
            names.map(|name| folder.join(name)).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(entries).collect();
    }
    // A link that leads to no file is reported later.
    found.retain(|path| path.symlink_metadata().is_ok());
    found.sort_unstable();
    Ok(found)
}

/// Returns the files in a folder and its subfolders, sorted by path.
fn files_below(folder: &Path, left_out: &mut Vec<String>) -> Result<Vec<PathBuf>> {
    let mut files = Walk::new(folder, left_out)?.files;
    // A folder of nothing else may be meant.
    if !files.iter().all(|file| is_about_files(file)) {
        files.retain(|file| {
            let is_read = !is_about_files(file);
            if !is_read {
                let reason = "this file describes a folder, so it is not read: name it to read it";
                left_out.push(format!("{}: {reason}", file.display()));
            }
            is_read
        });
    }
    if files.is_empty() {
        let problem = "the folder has no files: give a treebank file or a folder with such files";
        return Err(Error::config(folder.display().to_string(), problem));
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether the name is that of a file that describes a folder rather than belonging to a treebank, such as `README.txt`.
fn is_about_files(file: &Path) -> bool {
    const NAMES: [&str; 8] =
        ["readme", "license", "licence", "copying", "changelog", "changes", "notice", "authors"];
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    let is_text = matches!(extension, "" | "txt" | "md" | "rst" | "html" | "pdf" | "1st");
    let is_page = matches!(extension, "md" | "pdf");
    is_page || (is_text && NAMES.iter().any(|known| stem.starts_with(known)))
}

/// The files of a folder and its subfolders, without hidden ones.
#[derive(Default)]
struct Walk {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Walk {
    /// Walks through a folder; the empty path is the current one. Links to folders may form a cycle: they are not
    /// followed.
    fn new(folder: &Path, left_out: &mut Vec<String>) -> Result<Self> {
        let is_current = folder.as_os_str().is_empty();
        let start = if is_current { Path::new(".") } else { folder };
        let is_visible = |entry: &DirEntry| {
            entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        let mut walk = Self::default();
        for entry in WalkDir::new(start).min_depth(1).into_iter().filter_entry(is_visible) {
            let entry = entry.map_err(|problem| {
                let path = problem.path().unwrap_or(start).to_path_buf();
                Error::io(path, problem.into())
            })?;
            let path = match entry.path().strip_prefix(".") {
                Ok(path) if is_current => path.to_path_buf(),
                _ => entry.path().to_path_buf(),
            };
            if entry.file_type().is_dir() {
                walk.folders.push(path);
                continue;
            }
            let why = match entry.path().metadata() {
                Ok(target) if target.is_file() => {
                    walk.files.push(path);
                    continue;
                }
                Ok(target) if target.is_dir() => "a link to a folder is not followed",
                Ok(_) => "not a file: name it to read it",
                Err(_) => {
                    left_out.push(dangling(&path));
                    continue;
                }
            };
            left_out.push(format!("{}: {why}", path.display()));
        }
        Ok(walk)
    }
}

fn dangling(path: &Path) -> String {
    format!("{}: this link leads to no file", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn names_that_are_not_utf_8_match_patterns_and_pipes_are_left_out() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"x\xff.mrg"));
        for path in [&odd, &folder.path().join("a.mrg")] {
            std::fs::write(path, "(A (B c))").unwrap();
        }
        let files = |pattern: &str| expand(&[folder.path().join(pattern)]).unwrap().found;
        assert_eq!(files("a*"), [Input::File(folder.path().join("a.mrg"))]);
        assert_eq!(files("*.mrg"), [folder.path().join("a.mrg"), odd].map(Input::File));
        let pipe = std::process::Command::new("mkfifo").arg(folder.path().join("p.mrg")).status();
        assert!(pipe.unwrap().success());
        let inputs = expand(&[folder.path().to_path_buf()]).unwrap();
        assert_eq!((inputs.found.len(), inputs.left_out.len()), (2, 1));
        assert!(inputs.left_out[0].contains("p.mrg: not a file"), "{:?}", inputs.left_out);
    }

    #[test]
    fn a_folder_gives_its_files_sorted_and_without_hidden_ones() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("02")).unwrap();
        for name in ["b.mrg", "02/c.mrg", "a.mrg", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let inputs = expand(&[folder.path().to_path_buf()]).unwrap().found;
        let names: Vec<_> = inputs.iter().map(Input::name).collect();
        let ends: Vec<_> = names.iter().map(|n| n.rsplit('/').next().unwrap()).collect();
        assert_eq!(ends, ["c.mrg", "a.mrg", "b.mrg"]);
        let pattern = expand(&[folder.path().join("?.mrg")]).unwrap().found;
        assert_eq!(pattern, inputs[1..]);
        for every in ["**/*.mrg", "**"] {
            assert_eq!(expand(&[folder.path().join(every)]).unwrap().found, inputs, "{every}");
        }
        let inner = expand(&[folder.path().join("**/0?")]).unwrap().found;
        assert_eq!(inner, inputs[..1]);
        assert!(expand(&[folder.path().join("*.txt")]).is_err());
        assert!(expand(&[folder.path().join("**/*.txt")]).is_err());
        assert!(expand(&[folder.path().join("a**/*.mrg")]).is_err());
    }

    #[test]
    fn an_empty_folder_and_a_missing_file_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        assert!(expand(&[folder.path().to_path_buf()]).is_err());
        assert!(expand(&[folder.path().join("nothing.mrg")]).is_err());
    }
}
