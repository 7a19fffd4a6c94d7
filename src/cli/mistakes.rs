//! Advice on arguments that users get wrong at first.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::treebank::sentences::InputFormat;

/// Refuses an argument that is a sentence where a file is expected, and says how to pass it to `command`.
///
/// # Errors
/// When there is such an argument.
pub(super) fn refuse_sentences(files: &[PathBuf], command: &str) -> anyhow::Result<()> {
    for file in files {
        let Some(text) = file.to_str() else { continue };
        // Otherwise it is rather a path, or a pattern.
        let is_sentence =
            text.trim().contains(char::is_whitespace) && !text.contains(['/', '*', '[']);
        anyhow::ensure!(
            !is_sentence || file.exists(),
            "{text}: no such file: to {command} a sentence, write: echo {} | srparse {command} --input text",
            quoted(text)
        );
    }
    Ok(())
}

/// Quotes a text for a shell.
fn quoted(text: &str) -> String {
    if text.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", text.replace('\'', "'\\''"))
    } else {
        format!("\"{text}\"")
    }
}

/// What to do about a pattern that was taken for options.
const HYPHEN_ADVICE: &str = "write `--` before a pattern that begins with `-`, and `=` before a label: find -c -- -NONE- FILE, --label=-NONE-";

/// Suggests `--input text` for `--text` in commands that have `--input`, and so for all input formats; in `find`, what to write
/// for patterns and labels such as `-NONE-`.
pub(super) fn with_suggestion(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_format = given.strip_prefix("--").is_some_and(|name| InputFormat::NAMES.contains(&name));
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let has_input = ["srparse parse", "srparse tag"].iter().any(|command| usage.contains(command));
    // Labels are in capitals, options are not.
    let is_capital =
        given.strip_prefix('-').is_some_and(|name| name.starts_with(char::is_uppercase));
    let may_be_label = is_capital && usage.contains(" find ");
    if is_format && has_input {
        let option = given.replacen("--", "--input ", 1);
        error.insert(ContextKind::SuggestedArg, ContextValue::String(option));
        // It is that of the option which clap suggests, the most similar one.
        error.remove(ContextKind::Usage);
    } else if may_be_label {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![HYPHEN_ADVICE.into()]));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_quoted_for_the_shell() {
        let message = |text: &str| refuse_sentences(&[text.into()], "tag").unwrap_err().to_string();
        assert!(
            message("The dog's here.")
                .ends_with("echo \"The dog's here.\" | srparse tag --input text")
        );
        assert!(message("It's \"fun\"!").contains("echo 'It'\\''s \"fun\"!' | "));
        assert!(
            refuse_sentences(&["no.txt".into(), "no such/file".into(), "my *.txt".into()], "tag")
                .is_ok()
        );
    }
}
