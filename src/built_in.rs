//! The text files of `data/` that are part of the executable: presets, treebank profiles, feature templates, head
//! rules, EVALB parameters.

use std::borrow::Cow;

use include_dir::{Dir, include_dir};

use crate::{Result, text_file};

/// Presets.
pub(crate) const PRESETS: Folder = Folder {
    files: include_dir!("$CARGO_MANIFEST_DIR/data/presets"),
    extension: ".toml",
    first: &["fast", "small", "balanced", "accurate", "best", "beam"],
};
/// Treebank profiles.
pub(crate) const TREEBANKS: Folder = Folder {
    files: include_dir!("$CARGO_MANIFEST_DIR/data/treebanks"),
    extension: ".toml",
    first: &["ptb"],
};
/// Feature templates.
pub(crate) const TEMPLATES: Folder = Folder {
    files: include_dir!("$CARGO_MANIFEST_DIR/data/features"),
    extension: ".feats",
    first: &["rich", "lean"],
};
/// Head rules.
pub(crate) const HEADS: Folder = Folder {
    files: include_dir!("$CARGO_MANIFEST_DIR/data/heads"),
    extension: ".heads",
    first: &["collins"],
};
/// EVALB parameters.
pub(crate) const PARAMETERS: Folder = Folder {
    files: include_dir!("$CARGO_MANIFEST_DIR/data/evalb"),
    extension: ".prm",
    first: &["collins"],
};

/// Files in one folder; their names are those of the files without the extension.
pub(crate) struct Folder {
    files: Dir<'static>,
    extension: &'static str,
    /// The names that listings begin with, the default first; the others follow in alphabetical order.
    first: &'static [&'static str],
}

impl Folder {
    /// The text of the file with a name.
    pub(crate) fn text(&self, name: &str) -> Option<&'static str> {
        self.files.get_file(format!("{name}{}", self.extension))?.contents_utf8()
    }

    /// The text of the built-in file with this name, else of the file at this path, if there is one.
    ///
    /// # Errors
    /// When the file at the path cannot be read.
    pub(crate) fn load(&self, name: &str) -> Result<Option<Cow<'static, str>>> {
        match self.text(name) {
            Some(text) => Ok(Some(text.into())),
            None if text_file::exists(name) => Ok(Some(text_file::read(name)?.into())),
            None => Ok(None),
        }
    }

    /// All names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let paths = self.files.files().filter_map(|file| file.path().to_str());
        let names = paths.filter_map(|path| path.strip_suffix(self.extension));
        let mut names: Vec<&str> = names.filter(|name| !self.first.contains(name)).collect();
        names.sort_unstable();
        self.first.iter().copied().chain(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_text_and_names_are_in_order() {
        for folder in [PRESETS, TREEBANKS, TEMPLATES, HEADS, PARAMETERS] {
            let names: Vec<&str> = folder.names().collect();
            assert!(names.iter().all(|name| folder.text(name).is_some()), "{names:?}");
            assert!(names[folder.first.len()..].is_sorted(), "{names:?}");
        }
        assert_eq!(PRESETS.text("../heads/left"), None);
    }
}
