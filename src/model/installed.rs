//! Models that are found by their names: files `NAME.srm` in the folders for models.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::embedded;
use crate::error::{Error, did_you_mean};

/// The variable with folders for models, separated like those of `PATH`.
pub const VARIABLE: &str = "SRPARSE_MODELS";

/// The extension of model files.
const EXTENSION: &str = "srm";

/// The folder of a package of models; see [`use_package`].
static PACKAGE: OnceLock<PathBuf> = OnceLock::new();

/// Sets the folder of a package of models that was installed with the program, such as a package of Python. Only the first
/// call has an effect.
pub fn use_package(folder: PathBuf) {
    let _ = PACKAGE.set(folder);
}

/// The folders for models, the first to search first: those of [`VARIABLE`], `models` beside the program, `srparse/models` in
/// the user's data folder, and that of a [package](use_package).
pub fn folders() -> Vec<PathBuf> {
    let named = env::var_os(VARIABLE);
    let named = named.iter().flat_map(env::split_paths).filter(|path| !path.as_os_str().is_empty());
    let program = env::current_exe().and_then(|program| program.canonicalize()).ok();
    let beside = program.and_then(|program| Some(program.parent()?.join("models")));
    let data = data_folder().map(|folder| folder.join("srparse").join("models"));
    named.chain(beside).chain(data).chain(PACKAGE.get().cloned()).collect()
}

/// Where programs keep the data of the user.
fn data_folder() -> Option<PathBuf> {
    let of_variable = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return of_variable("LOCALAPPDATA");
    }
    of_variable("XDG_DATA_HOME").or_else(|| Some(env::home_dir()?.join(".local").join("share")))
}

/// The files of installed models by their names; a file in an earlier folder hides those of the same name.
pub fn all() -> BTreeMap<String, PathBuf> {
    let mut models = BTreeMap::new();
    for folder in folders() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_file()
                && path.extension().is_some_and(|extension| extension == EXTENSION)
                && let Some(name) = path.file_stem().and_then(|name| name.to_str())
            {
                models.entry(name.to_owned()).or_insert(path);
            }
        }
    }
    models
}

/// Returns whether a path is a name alone, without a folder or an extension.
fn is_name(path: &Path) -> bool {
    path.to_str().is_some_and(|name| !name.is_empty() && !name.contains(['/', '\\', '.']))
}

/// The file of the installed model of a name, unless there is a file at this path. A folder, such as that of a language's
/// texts, hides no model.
pub fn file(name: &Path) -> Option<PathBuf> {
    if !is_name(name) || (name.exists() && !name.is_dir()) {
        return None;
    }
    let file = |folder: PathBuf| folder.join(name).with_extension(EXTENSION);
    folders().into_iter().map(file).find(|path| path.is_file())
}

/// The error of a name that is neither a file nor a model.
pub(super) fn misspelled(path: &Path) -> Option<Error> {
    let name = path.to_str().filter(|_| is_name(path) && !path.exists())?;
    let mut names: Vec<String> = embedded::NAMES.map(str::to_owned).into();
    names.extend(all().into_keys());
    let problem = format!(
        "there is no such file, and no model of this name: {}the models are {}; `srparse models` lists the folders that are \
         searched",
        did_you_mean(name, names.iter().map(String::as_str)),
        names.join(", ")
    );
    Some(Error::Model { path: path.to_path_buf(), problem })
}
