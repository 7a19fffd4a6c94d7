//! The examples in help texts and in the documentation run, and the documentation is complete.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const SRPARSE: &str = env!("CARGO_BIN_EXE_srparse");

/// Returns the lines of all help texts that are commands.
fn examples() -> Vec<String> {
    let commands = [
        "",
        "train",
        "parse",
        "tag",
        "eval",
        "compare",
        "oracle",
        "tree",
        "find",
        "complexity",
        "info",
        "models",
        "chart",
        "experiment",
        "ablate",
    ];
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

/// The commands of the README's tour, in order.
fn tour() -> Vec<String> {
    let readme = include_str!("../../README.md");
    let tour = readme.split("\n## ").find(|part| part.starts_with("Five-minute tour"));
    let mut inside = false;
    let mut found = Vec::new();
    for line in tour.expect("the README has a tour").lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside {
            found.push(line.to_owned());
        }
    }
    found
}

/// A folder that has the project's data.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for what examples write");
    for name in ["data", "docs"] {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        std::os::unix::fs::symlink(own, folder.path().join(name)).expect("a link to the data");
    }
    folder
}

/// A command of the shell, which finds the program.
fn shell(command: &str, folder: &TempDir) -> Command {
    let bin = Path::new(SRPARSE).parent().expect("the program has a folder");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("bash");
    shell.args(["-o", "pipefail", "-c", command]).current_dir(folder.path()).env("PATH", &path);
    shell
}

/// Runs commands one after the other in a folder of their own that has the project's data.
fn run_all(commands: &[String]) {
    run_in(&folder(), commands);
}

fn run_in(folder: &TempDir, commands: &[String]) {
    for command in commands {
        let shell = shell(command, folder).output().expect("bash runs");
        assert!(shell.status.success(), "{command}\n{}", String::from_utf8_lossy(&shell.stderr));
        let writes = command.contains(" > ") || command.starts_with("srparse train");
        assert!(writes || !shell.stdout.is_empty(), "{command} printed nothing");
    }
}

#[test]
fn every_example_of_the_helps_runs() {
    let examples = examples();
    assert!(examples.len() >= 10, "{examples:?}");
    run_all(&examples);
}

#[test]
fn the_tour_of_the_readme_runs() {
    let tour = tour();
    assert!(tour.len() >= 9, "{tour:?}");
    run_all(&tour);
}

#[test]
fn the_first_example_of_the_readme_prints_the_tree_beside_it() {
    let readme = include_str!("../../README.md");
    let blocks: Vec<&str> = readme.split("```").collect();
    let command = blocks[1].lines().find(|line| line.contains("srparse parse"));
    let bin = Path::new(SRPARSE).parent().expect("the program has a folder");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let command = command.expect("the first block parses a sentence");
    let output = Command::new("bash").args(["-c", command]).env("PATH", path).output();
    let tree = String::from_utf8(output.expect("bash runs").stdout).expect("trees are UTF-8");
    assert_eq!(tree.trim(), blocks[3].trim_start_matches("text").trim());
}

#[test]
fn the_documentation_lists_every_preset() {
    let listed = include_str!("../../docs/presets.md");
    let presets = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/presets");
    for file in std::fs::read_dir(presets).expect("the project has presets") {
        let path = file.expect("the folder can be read").path();
        let name = path.file_stem().expect("a preset has a name").to_string_lossy().into_owned();
        assert!(listed.contains(&format!("`{name}`")), "docs/presets.md does not list {name}");
    }
}

/// The lines of a page's code blocks for the shell, without comments.
fn lines_of(page: &str) -> Vec<String> {
    let page = page.replace("\\\n", " ");
    let blocks = page.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#');
    lines.filter(is_command).map(str::to_owned).collect()
}

/// A folder with the texts that the pages speak of.
fn folder_with_texts() -> TempDir {
    let folder = folder();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("the folder can be written to");
    };
    std::fs::create_dir(folder.path().join("essays")).expect("a folder");
    let essay = "The dog that barked was seen. We sing, and you dance because it is late. She reads the letter.\n";
    for name in ["essay.txt", "essays/first.txt", "essays/second.txt"] {
        write(name, essay);
    }
    write("sentences.jsonl", "{\"tokens\":[\"Dogs\",\"bark\"]}\n{\"text\":\"We sing.\"}\n");
    let model = folder.path().join("data/models/english-fast.srm");
    std::os::unix::fs::symlink(model, folder.path().join("german.srm")).expect("a link");
    folder
}

#[test]
fn the_recipes_of_tree_search_run() {
    let commands = lines_of(include_str!("../../docs/find.md"));
    // What the project runs of its own, and what needs other software.
    let (own, runs): (Vec<String>, Vec<String>) =
        commands.into_iter().partition(|line| line.starts_with("cargo") || line.contains("JAR="));
    assert!(own.len() <= 2 && runs.len() >= 11, "{own:?} {runs:?}");
    run_in(&folder_with_texts(), &runs);
}

#[cfg(feature = "serve")]
#[test]
fn the_recipes_of_the_server_run() {
    use std::io::{BufRead, BufReader};

    let folder = folder_with_texts();
    let commands = lines_of(include_str!("../../docs/serve.md"));
    let (servers, clients): (Vec<String>, Vec<String>) =
        commands.into_iter().partition(|line| line.contains("srparse serve"));
    assert!(servers.len() >= 3 && clients.len() >= 6, "{servers:?} {clients:?}");
    for server in servers {
        let free = match server.contains("--listen") {
            true => server.replace(":9000", ":0"),
            false => server.replace("srparse serve", "srparse serve --listen 127.0.0.1:0"),
        };
        let line = free.split(" #").next().unwrap_or_default();
        // The server takes the place of the shell, which is killed.
        let line = line.replace("srparse serve", "exec srparse serve");
        let mut child =
            shell(&line, &folder).stderr(std::process::Stdio::piped()).spawn().expect("bash runs");
        let mut said = String::new();
        let read = BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut said);
        child.kill().and_then(|()| child.wait()).expect("the server ends");
        assert!(read.is_ok() && said.starts_with("listening on http://"), "{server}: {said}");
    }
    let server = crate::http::Running::start(&["--model", "english"]);
    let clients: Vec<String> = clients
        .iter()
        .map(|line| line.replace("localhost:9000", &server.address))
        .map(|line| line.replace("curl ", "curl --silent --show-error --fail-with-body "))
        .collect();
    run_in(&folder, &clients);
}

/// The words of a command, without the single quotes that join some of them.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("there is one from the beginning").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The commands in the code blocks of a page, each as words; lines that end in `\` go on.
fn commands(page: &str) -> Vec<Vec<String>> {
    let page = page.replace("\\\n", " ");
    let blocks = page.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
    let commands = lines.filter(|line| line.starts_with("srparse "));
    commands.map(words).collect()
}

#[test]
fn the_documentation_trains_with_presets_and_settings_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        ["", "docs", "docs/data", "docs/papers", "data/models"].map(|folder| root.join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let pages = files.map(|file| file.expect("a file").path());
    let mut checked = 0;
    for page in pages.filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let text = std::fs::read_to_string(&page).expect("a page is text");
        for command in commands(&text).into_iter().filter(|command| command[1] == "train") {
            let after = |option: &str| -> Vec<String> {
                let pairs = command.windows(2).filter(|pair| pair[0] == option);
                pairs.map(|pair| pair[1].clone()).collect()
            };
            let preset = after("--preset").pop().unwrap_or("fast".to_owned());
            if let Err(error) = srparse::Preset::load(&preset, &after("--set")) {
                panic!("{}: {}: {error}", page.display(), command.join(" "));
            }
            checked += 1;
        }
    }
    assert!(checked >= 15, "only {checked} commands were found");
}
