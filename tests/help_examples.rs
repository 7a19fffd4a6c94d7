//! Every example in a help text runs.

use std::path::Path;
use std::process::Command;

const SRPARSE: &str = env!("CARGO_BIN_EXE_srparse");

/// The lines of all helps that look like a command to type.
fn examples() -> Vec<String> {
    let commands = ["", "train", "parse", "eval", "oracle", "tree", "info"];
    let mut found = Vec::new();
    for command in commands {
        let mut help = Command::new(SRPARSE);
        if !command.is_empty() {
            help.arg(command);
        }
        let output = help.arg("--help").output().expect("help runs");
        let text = String::from_utf8(output.stdout).expect("help is UTF-8");
        let lines = text.lines().map(str::trim);
        let examples = lines.map(|line| line.strip_prefix("Try it: ").unwrap_or(line));
        let typed = |line: &&str| line.starts_with("srparse ") || line.starts_with("echo ");
        found.extend(examples.filter(typed).map(str::to_owned));
    }
    found
}

#[test]
fn every_example_of_the_helps_runs() {
    let folder = tempfile::tempdir().expect("a folder for what examples write");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let link = folder.path().join("data");
    std::os::unix::fs::symlink(data, link).expect("a link to the data");
    let bin = Path::new(SRPARSE).parent().expect("the program has a folder");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let examples = examples();
    assert!(examples.len() >= 10, "{examples:?}");
    for example in examples {
        let shell = Command::new("bash")
            .args(["-o", "pipefail", "-c", &example])
            .current_dir(folder.path())
            .env("PATH", &path)
            .output()
            .expect("bash runs");
        assert!(shell.status.success(), "{example}\n{}", String::from_utf8_lossy(&shell.stderr));
        let writes = example.contains(" > ") || example.starts_with("srparse train");
        assert!(writes || !shell.stdout.is_empty(), "{example} printed nothing");
    }
}
