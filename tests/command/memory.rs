//! Bounded memory: what is read ahead, sentences of any length in a beam, and output before the input ends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

const SRPARSE: &str = env!("CARGO_BIN_EXE_srparse");

/// A program that does not answer for so long never will.
const NEVER: Duration = Duration::from_secs(300);

/// A running program whose output is read only as lines are asked for, so that it has to wait.
struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(SRPARSE)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("srparse runs");
        let (sender, lines) = sync_channel(0);
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines }
    }

    fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).expect("it is read");
    }

    /// Writes lines for ever; returns how many the program has taken so far.
    fn feed(
        &mut self,
        mut lines: impl Iterator<Item = String> + Send + 'static,
    ) -> Arc<AtomicUsize> {
        let (taken, mut stdin) = (Arc::new(AtomicUsize::new(0)), self.stdin.take().expect("open"));
        let counter = Arc::clone(&taken);
        std::thread::spawn(move || {
            while lines.next().is_some_and(|line| stdin.write_all(line.as_bytes()).is_ok()) {
                counter.fetch_add(1, Ordering::SeqCst);
            }
        });
        taken
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(NEVER).expect("an answer before the input ends")
    }

    /// The largest amount of memory so far, in MB.
    fn peak(&self) -> usize {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("the program runs");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
        let kilobytes = line.split_whitespace().nth(1).and_then(|number| number.parse().ok());
        kilobytes.map(|kilobytes: usize| kilobytes / 1024).expect("a number")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value of a counter once it has not changed for a second.
fn settled(counter: &AtomicUsize) -> usize {
    loop {
        let before = counter.load(Ordering::SeqCst);
        std::thread::sleep(Duration::from_secs(1));
        if counter.load(Ordering::SeqCst) == before {
            return before;
        }
    }
}

fn words(n: usize) -> String {
    let mut line = "the/DT dog/NN barks/VBZ and/CC ".repeat(n / 4);
    line.push('\n');
    line
}

#[test]
fn only_some_words_are_read_ahead() {
    for model in ["english-fast", "english-small"] {
        let mut parser = Running::start(&["parse", "-q", "-j", "2", "--model", model]);
        let line = words(20_000);
        let taken = parser.feed(std::iter::repeat_n(line, 1_500));
        for written in 1..=3 {
            parser.line();
            // 100,000 words between the reader and the output, two results on their way here, and what is in buffers and
            // pipes.
            let most = written + 5 + 2 + 3;
            let taken = taken.load(Ordering::SeqCst);
            assert!(
                taken <= most,
                "{model}: {taken} lines taken before line {written} was written"
            );
        }
        assert!(parser.peak() < 150, "{model}: {} MB", parser.peak());
    }
}

#[test]
fn only_some_results_wait_for_a_slow_one() {
    let mut parser = Running::start(&["parse", "-q", "-j", "2", "--model", "english-fast"]);
    let short = format!("{}/NN\n", "x".repeat(4_000));
    let taken = parser.feed(std::iter::once(words(40_000)).chain(std::iter::repeat(short)));
    parser.line();
    let taken = settled(&taken);
    // 1,024 sentences, and what is in buffers and pipes.
    assert!(taken < 1_200, "{taken} lines taken while the first was parsed");
    assert!(parser.peak() < 150, "{} MB", parser.peak());
}

#[test]
fn trees_and_derivations_are_written_before_the_input_ends() {
    for threads in ["1", "2"] {
        let mut tree = Running::start(&["tree", "-q", "-j", threads]);
        let mut oracle = Running::start(&["oracle", "-q", "-j", threads]);
        for word in ["dog", "cat"] {
            let text = format!("(S (NP (NN {word})) (VP (VBZ sits)))\n");
            tree.write(&text);
            assert_eq!(tree.line(), format!("(TOP {})", text.trim_end()), "-j {threads}");
            oracle.write(&text);
            assert_eq!(oracle.line(), format!("1\t\t{word} sits\tSHIFT"), "-j {threads}");
            while !oracle.line().is_empty() {}
        }
    }
}

#[test]
fn trees_and_derivations_are_the_same_for_any_number_of_threads() {
    for command in
        [&["tree", "--binarize"][..], &["oracle"], &["oracle", "--preset", "binary-2018"]]
    {
        let [one, several] = ["1", "3"].map(|threads| {
            let arguments = ["data/sample/dev.mrg", "-q", "-j", threads];
            let output = Command::new(SRPARSE).args(command).args(arguments).output();
            output.expect("srparse runs").stdout
        });
        assert!(one.len() > 1_000 && one == several, "{command:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_without_an_end_is_refused() {
    for command in [
        &["tree", "/dev/zero"][..],
        &["find", "NP", "/dev/zero"],
        &["parse", "--model", "english-fast", "--input", "tokens", "/dev/zero"],
        &["parse", "--model", "english-fast", "--input", "conllu", "/dev/zero"],
    ] {
        let output = Command::new(SRPARSE).args(command).output().expect("srparse runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains("/dev/zero:1: ") && said.contains("256 MB"), "{command:?}: {said}");
    }
}

#[test]
fn a_part_of_a_tree_without_an_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (start, command) in [
        ("<corpus>\n<head ", &["tree"][..]),
        ("(S\n(A ", &["tree", "--skip-bad"]),
        ("(S\n(A ", &["parse", "--model", "english-fast", "--input", "penn"]),
        ("#BOS 1\n", &["tree", "--skip-bad"]),
    ] {
        let file = folder.path().join("endless.gz");
        let out = std::fs::File::create(&file).expect("a file");
        let mut out = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
        out.write_all(start.as_bytes()).expect("writing");
        let block = vec![b'a'; 1 << 20];
        for _ in 0..300 {
            out.write_all(&block).expect("writing");
        }
        out.finish().expect("writing");
        let mut run = Command::new(SRPARSE);
        let output = run.args(command).arg(&file).output().expect("srparse runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains("endless.gz:2: ") && said.contains("256 MB"), "{command:?}: {said}");
        assert!(output.stdout.is_empty(), "{command:?}");
    }
}

/// Nodes in each other, each with a word far away from the others: NEGRA export.
fn nested_and_crossing(n: usize) -> String {
    let mut text = String::from("#BOS 1\n");
    let words = (0..n).map(|at| (at, "HD")).chain([(n, "NK")]).chain((0..n).map(|at| (at, "NK")));
    for (at, function) in words {
        let parent = if at == n { 0 } else { 500 + at };
        text.push_str(&format!("w\tT\t--\t{function}\t{parent}\n"));
    }
    for at in 0..n {
        let parent = if at + 1 == n { 0 } else { 501 + at };
        text.push_str(&format!("#{}\tN\t--\tMO\t{parent}\n", 500 + at));
    }
    text.push_str("#EOS 1\n");
    text
}

#[test]
fn nested_crossing_branches_take_linear_memory() {
    let mut tree = Running::start(&["tree", "-q"]);
    tree.write(&nested_and_crossing(4_000));
    assert!(tree.line().contains("(TOP"));
    // With room for all raised children in each list: 190 MB.
    assert!(tree.peak() < 60, "{} MB", tree.peak());
}

#[test]
fn derivations_of_deep_trees_take_linear_memory() {
    let n = 3_000;
    let mut oracle = Running::start(&["oracle", "-q", "--preset", "fast"]);
    oracle.write(&format!("{}(A a){}\n", "(S (A a) ".repeat(n), ")".repeat(n)));
    let mut longest = 0;
    loop {
        let line = oracle.line();
        longest = longest.max(line.len());
        if line.is_empty() {
            break;
        }
    }
    // The upper 200 on the stack, each a word and a tag.
    assert!((600..1_500).contains(&longest), "{longest} bytes");
    assert!(oracle.peak() < 100, "{} MB", oracle.peak());
}

/// The memory that a beam of stack-LSTM states takes for a sentence, in MB.
fn peak_of_a_beam(model: &str, n: usize) -> usize {
    let mut parser = Running::start(&["parse", "-q", "--model", model, "--beam", "16"]);
    parser.write(&words(n));
    parser.line();
    parser.peak()
}

#[test]
fn hypotheses_of_a_stack_lstm_share_their_history() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model.srm");
    let model = path.to_str().expect("a name");
    let network = "learner.network={ kind = \"stack-lstm\", word_dim = 8, tag_dim = 8, action_dim = 8, \
                   input_dim = 32, lstm_dim = 32, layers = 2 }";
    let trained = Command::new(SRPARSE)
        .args(["train", "-q", "--preset", "liu-zhang-2017", "--train", "data/sample/dev.mrg"])
        .args(["--model", model, "--set", "learner.epochs=1", "--set", network])
        .status();
    assert!(trained.expect("srparse runs").success());
    let [short, long] = [500, 2_000].map(|n| peak_of_a_beam(model, n));
    // With a copy of the states in each hypothesis: 130 MB more.
    assert!(long < short + 40, "{short} MB for 500 words, {long} MB for 2,000");
}
