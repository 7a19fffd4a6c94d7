//! `srparse tree`: cleans, converts and draws trees.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use console::Term;

use super::inputs::note_without_words;
use super::options::{INPUT, Numbers, OUTPUT, ThreadsArg, TreebankArgs, Verbosity};
use super::out::{Out, OutArg};
use super::page::trees::{PageTree, SentenceTrees, TreesPage};
use super::tree_input::{InputTree, TreeInput, TreeProcessor};
use super::{listed, page};
use crate::Place;
use crate::error::counted;
use crate::find::HEADS;
use crate::find::transform::Rules;
use crate::text_file;
use crate::tree::Tree;
use crate::tree::binarize::binarize;
use crate::tree::dependencies::head_positions;
use crate::tree::draw::{self, TextStyle};
use crate::tree::heads::HeadRules;
use crate::treebank::tagged::{self, TaggedFormat};
use crate::treebank::{
    Cleaning, Origin, ReadReport, SentenceId, TreeOrigin, Trees, ids, json, penn,
};

/// Clean, convert and draw the trees of a treebank.
///
/// Prints the trees as a parser is trained on them: without traces and function tags, under a root TOP.
/// Use --set to change a step of this cleaning, or --no-clean to switch it off.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse tree --output text --nth 1 data/sample/dev.mrg
  srparse tree --output svg --nth 1 data/sample/dev.mrg > tree.svg
  srparse tree --output html --nth 2-9 data/sample/dev.mrg > trees.html
  srparse tree --set clean.quotes=true --binarize data/sample/dev.mrg
  srparse tree --rules data/sample/auxiliaries.tsurgeon data/sample/dev.mrg")]
pub struct TreeArgs {
    /// Treebank files (may be .gz), folders, quoted globs, or - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    verbosity: Verbosity,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Convert only the N-th tree, counted from 1, or a range of trees, such as 2-40.
    #[arg(long, value_name = "N|N-M", help_heading = INPUT)]
    nth: Option<Numbers>,
    /// Change a step of the cleaning, such as clean.quotes=true or clean.root=keep; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1, help_heading = CONVERSION)]
    set: Vec<String>,
    /// The same without `clean.`, as in earlier versions.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1, hide = true)]
    clean: Vec<String>,
    /// Do not clean the trees.
    #[arg(long, conflicts_with_all = ["set", "clean", "treebank"], help_heading = CONVERSION)]
    no_clean: bool,
    /// Change the trees by the rules of a file before they are cleaned: patterns and operations of Tsurgeon, see
    /// docs/find.md.
    #[arg(long, value_name = "FILE", help_heading = CONVERSION)]
    rules: Option<PathBuf>,
    /// Binarize the trees head-outward; labels of temporary nodes end in *.
    #[arg(long, help_heading = CONVERSION)]
    binarize: bool,
    /// Head rules for --binarize and for --output conllu and json: a name listed by `srparse info`, or a file.
    #[arg(value_parser = listed::heads(), hide_possible_values = true, long, value_name = "NAME|FILE", default_value = HEADS,
          help_heading = CONVERSION)]
    heads: String,
    /// Keep the IDs of trees, of the `(ID x)` of brackets, `#BOS`, TIGER-XML, Alpino XML and GENIA XML: as `( (S ...) (ID
    /// x))` in brackets, `# sent_id = x` in CoNLL-U and `id` in JSON.
    #[arg(long, help_heading = OUTPUT)]
    ids: bool,
    /// Undo the escapes of the Penn Treebank in words: ( for -LRB-, / for \/. In Penn brackets, round
    /// brackets remain escaped.
    #[arg(long, help_heading = CONVERSION)]
    unescape: bool,
    /// Format of the output.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, help_heading = OUTPUT)]
    output: TreeOutput,
    /// Draw the lines of --output text with ASCII characters only.
    #[arg(long, help_heading = OUTPUT)]
    ascii: bool,
    /// Cut the lines of --output text after N columns, at least 10; on a terminal its width, otherwise no limit.
    #[arg(long, value_name = "N", value_parser = columns, help_heading = OUTPUT)]
    width: Option<usize>,
    #[command(flatten)]
    treebank: TreebankArgs,
}

const CONVERSION: &str = "Conversion options";

/// The least width of a drawing.
const LEAST_WIDTH: usize = 10;

fn columns(text: &str) -> Result<usize, String> {
    let columns = text.parse().ok().filter(|columns: &usize| *columns >= LEAST_WIDTH);
    columns.ok_or_else(|| format!("must be a number of columns from {LEAST_WIDTH}"))
}

/// The output of `srparse tree`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum TreeOutput {
    /// Penn brackets, one tree per line.
    #[default]
    Brackets,
    /// Penn brackets, indented over several lines.
    Pretty,
    /// A drawing in plain text.
    Text,
    /// An SVG drawing of a single tree.
    Svg,
    /// A page with the trees, whose nodes can be collapsed.
    Html,
    /// Only the words and tags: word/TAG, one sentence per line.
    Tagged,
    /// Only the words and tags: word_TAG, one sentence per line.
    Underscore,
    /// CoNLL-U: words, tags, and dependencies by the head rules, which are not Universal Dependencies.
    Conllu,
    /// One JSON object per line: tree, tokens, spans, and heads by the head rules.
    Json,
}

impl TreeOutput {
    /// Whether the output has dependencies.
    fn has_heads(self) -> bool {
        matches!(self, Self::Conllu | Self::Json)
    }
}

/// Runs the command.
///
/// # Errors
/// When an argument is invalid, an input cannot be read, or the output cannot be written.
pub fn run(args: &TreeArgs) -> anyhow::Result<ExitCode> {
    check_options(args)?;
    let mut out = args.out.open(&args.files)?;
    let report = convert(args, &mut out)?;
    out.finish()?;
    if !args.verbosity.quiet || report.skipped > 0 {
        say!("{report}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Rejects options that would have no effect.
fn check_options(args: &TreeArgs) -> anyhow::Result<()> {
    ensure!(
        args.heads == HEADS || args.needs_heads(),
        "--heads needs something that has heads: add --binarize, --rules, or --output conllu or json"
    );
    ensure!(
        args.output == TreeOutput::Text || !(args.ascii || args.width.is_some()),
        "--ascii and --width are for drawings in plain text: add --output text"
    );
    Ok(())
}

impl TreeArgs {
    /// Whether the head rules are used.
    fn needs_heads(&self) -> bool {
        self.binarize || self.output.has_heads() || self.rules.is_some()
    }
}

/// Writes the trees that were asked for.
fn convert(args: &TreeArgs, out: &mut Out) -> anyhow::Result<ReadReport> {
    let cleaning = cleaning(args)?;
    let rules = args.rules.as_deref().map(read_rules).transpose()?;
    let heads = args.needs_heads().then(|| HeadRules::load(&args.heads).context("--heads"));
    let heads = heads.transpose()?;
    let input = TreeInput::open(&args.files, &args.treebank, &args.verbosity, Some(&args.out))?;
    let mut asked = Asked { cleaning: &cleaning, args, read: 0, without_words: 0 };
    let (style, first) = (text_style(args), args.nth.map_or(1, |nth| nth.first));
    let process = |InputTree { number, at, id, tree }, bytes: &mut Vec<u8>| {
        let changed = changed(tree, rules.as_ref(), heads.as_ref());
        let tree = changed.map_err(|error| of_tree(number, at, &error))?;
        let tree = converted_tree(tree, &cleaning, heads.as_ref(), args);
        if args.output == TreeOutput::Text && number > first {
            bytes.push(b'\n');
        }
        Ok(write_tree(&tree, (number, id.as_deref()), (args.output, &style), bytes).is_ok())
    };
    if args.output == TreeOutput::Html {
        let files: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
        let page = TreesPage { title: format!("Trees of {}", files.join(", ")) };
        page::begin(&page, out)?;
    }
    let trees = if args.output == TreeOutput::Svg {
        draw(input, &mut asked, &process, out)?
    } else {
        let threads = args.threads.number(&args.verbosity);
        input.run(&mut |trees| asked.next(trees), &process, out, threads)?.1
    };
    if args.output == TreeOutput::Html {
        out.write_all(page::END)?;
    }
    let Asked { read, without_words, .. } = asked;
    if let Some(nth) = args.nth
        && read < nth.last
    {
        bail!("--nth {nth}: the input has only {}", counted(read, "tree"));
    }
    note_without_words(without_words, args.verbosity.quiet);
    ensure!(
        args.output != TreeOutput::Svg || read > 0,
        "{}: no tree to draw ({})",
        args.files[0].display(),
        trees.report()
    );
    Ok(trees.report().clone())
}

/// Reads the rules of `--rules`.
fn read_rules(path: &Path) -> anyhow::Result<Rules> {
    let text = text_file::read(path)?;
    Ok(Rules::parse(&text, &path.display().to_string())?)
}

/// The tree after the rules.
fn changed(tree: Tree, rules: Option<&Rules>, heads: Option<&HeadRules>) -> crate::Result<Tree> {
    match (rules, heads) {
        (Some(rules), Some(heads)) => rules.changer().with_heads(heads).change(tree),
        _ => Ok(tree),
    }
}

/// The error of a tree that rules could not change.
fn of_tree(number: u64, at: Option<Place>, error: &crate::Error) -> crate::Error {
    let problem = format!("tree {number}: {error}");
    match at {
        Some(at) => crate::Error::syntax(at, problem),
        None => crate::Error::Unfit(problem),
    }
}

/// Writes a drawing, which is a file of its own: it is written once the tree is known to be the only one.
fn draw(
    input: TreeInput,
    asked: &mut Asked<'_>,
    process: TreeProcessor<'_>,
    out: &mut Out,
) -> anyhow::Result<Trees> {
    let TreeInput { mut trees, .. } = input;
    let mut drawing = Vec::new();
    while let Some(next) = asked.next(&mut trees) {
        let tree = next?;
        if !drawing.is_empty() {
            bail!(
                "--output svg draws a single tree, but there are more: choose one with --nth N, or draw several \
                 with --output html"
            );
        }
        process(tree, &mut drawing)?;
    }
    out.write_all(&drawing)?;
    Ok(trees)
}

/// The trees that were asked for.
struct Asked<'a> {
    cleaning: &'a Cleaning,
    args: &'a TreeArgs,
    /// How many trees with words have been read.
    read: u64,
    without_words: u64,
}

impl Asked<'_> {
    /// The next tree.
    fn next(&mut self, trees: &mut Trees) -> Option<crate::Result<InputTree>> {
        let nth = self.args.nth;
        while nth.is_none_or(|nth| self.read < nth.last) {
            let tree = match trees.next()? {
                Ok(tree) => self.cleaning.strip(tree),
                Err(error) => return Some(Err(error)),
            };
            // A tree that contains only metadata is skipped.
            let Some(tree) = tree else {
                self.without_words += 1;
                continue;
            };
            self.read += 1;
            if nth.is_none_or(|nth| nth.contains(self.read)) {
                let id = trees.id().filter(|_| self.args.ids).map(str::to_owned);
                return Some(Ok(InputTree { number: self.read, at: trees.place(), id, tree }));
            }
        }
        None
    }
}

fn cleaning(args: &TreeArgs) -> anyhow::Result<Cleaning> {
    if args.no_clean {
        return Ok(Cleaning::none());
    }
    let steps = args.clean.iter().map(|step| format!("clean.{step}"));
    let settings: Vec<String> = steps.chain(args.set.iter().cloned()).collect();
    args.treebank.profile.cleaning(&settings)
}

/// Returns the tree as it is printed: cleaned, with heads if there are rules, and binarized if asked for.
fn converted_tree(
    tree: Tree,
    cleaning: &Cleaning,
    heads: Option<&HeadRules>,
    args: &TreeArgs,
) -> Tree {
    let mut tree = cleaning.apply(tree);
    if let Some(heads) = heads.filter(|_| args.binarize || args.output.has_heads()) {
        heads.apply(&mut tree);
    }
    if args.binarize {
        tree = binarize(&tree);
        for node in tree.nodes_mut().iter_mut().filter(|node| node.temporary) {
            node.label.push('*');
        }
    }
    if args.unescape {
        for token in tree.tokens_mut() {
            if let std::borrow::Cow::Owned(plain) = penn::unescape(&token.word) {
                token.word = plain.into();
            }
        }
    }
    tree
}

/// How drawings in plain text look: on a terminal no wider than it.
fn text_style(args: &TreeArgs) -> TextStyle {
    let terminal = || args.out.is_terminal().then(|| usize::from(Term::stdout().size().1));
    TextStyle { ascii: args.ascii, width: args.width.or_else(terminal) }
}

fn write_tree(
    tree: &Tree,
    (number, id): (u64, Option<&str>),
    (output, style): (TreeOutput, &TextStyle),
    out: &mut impl Write,
) -> io::Result<()> {
    let named = id.map(|id| ids::with_id(tree, id));
    let in_brackets = named.as_ref().unwrap_or(tree);
    match output {
        TreeOutput::Brackets => penn::write_line(in_brackets, out),
        TreeOutput::Pretty => penn::write_pretty(in_brackets, out),
        TreeOutput::Text => draw::text_in(tree, style, out),
        TreeOutput::Svg => draw::svg(tree, out),
        TreeOutput::Html => {
            let trees = vec![PageTree::of(tree)];
            page::write_line(
                &SentenceTrees { n: Some(number), trees, ..SentenceTrees::default() },
                out,
            )
        }
        TreeOutput::Tagged => tagged::write_line(tree.tokens(), TaggedFormat::Slash, out),
        TreeOutput::Underscore => tagged::write_line(tree.tokens(), TaggedFormat::Underscore, out),
        TreeOutput::Conllu => {
            let id = id.map(SentenceId::from);
            let origin = Origin::Tree(Box::new(TreeOrigin { tree: None, id }));
            origin.write_comments(out)?;
            origin.write_parse(tree, out)
        }
        TreeOutput::Json => {
            let heads = head_positions(tree);
            let id = id.map(SentenceId::from);
            let whole = json::Parse { id: id.as_ref(), complete: true, ..json::Parse::bare(tree) };
            json::write_line(&json::Parse { heads: &heads, ..whole }, out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: TreeArgs,
    }

    fn converted(text: &str, options: &[&str]) -> anyhow::Result<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let path = file.path().to_str().unwrap();
        let written = tempfile::NamedTempFile::new().unwrap();
        let words = ["tree", path, "-q", "--out", written.path().to_str().unwrap()];
        let command = Command::try_parse_from(words.into_iter().chain(options.iter().copied()))?;
        run(&command.args)?;
        Ok(std::fs::read_to_string(written.path()).unwrap())
    }

    const TEXT: &str = "( (S (NP-SBJ (-LRB- -LRB-) (NN 1\\/2)) (VP (-NONE- *))) )\n(S (A a))\n";

    #[test]
    fn trees_are_cleaned_by_default() {
        let expected = "(TOP (S (NP (-LRB- -LRB-) (NN 1\\/2))))\n(TOP (S (A a)))\n";
        assert_eq!(converted(TEXT, &[]).unwrap(), expected);
        assert!(converted(TEXT, &["--no-clean"]).unwrap().starts_with("( (S (NP-SBJ"));
        assert!(converted(TEXT, &["--set", "clean.root=keep"]).unwrap().starts_with("( (S (NP "));
        let problem = format!("{:#}", converted(TEXT, &["--set", "clean.rot=keep"]).unwrap_err());
        assert!(problem.contains("did you mean `clean.root`?"), "{problem}");
        assert!(converted(TEXT, &["--clean", "root=keep"]).unwrap().starts_with("( (S (NP "));
        let problem = format!("{:#}", converted(TEXT, &["--set", "search.beam=2"]).unwrap_err());
        assert!(problem.contains("only the cleaning"), "{problem}");
    }

    #[test]
    fn words_are_unescaped_but_brackets_stay_readable() {
        let tagged = converted(TEXT, &["--output", "underscore", "--unescape"]).unwrap();
        assert_eq!(tagged, "(_-LRB- 1/2_NN\na_A\n");
        let brackets = converted(TEXT, &["--unescape", "--nth", "1"]).unwrap();
        assert_eq!(brackets, "(TOP (S (NP (-LRB- -LRB-) (NN 1/2))))\n");
    }

    #[test]
    fn dependencies_are_those_of_the_head_rules() {
        let text = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))";
        let conllu = converted(text, &["--output", "conllu"]).unwrap();
        let expected = "1\tthe\t_\t_\tDT\t_\t2\tDT\t_\t_\n2\tdog\t_\t_\tNN\t_\t3\tNP\t_\t_\n\
                        3\tbarks\t_\t_\tVBZ\t_\t0\troot\t_\t_\n\n";
        assert_eq!(conllu, expected);
        let json = converted(text, &["--output", "json", "--heads", "left"]).unwrap();
        assert!(json.contains("\"heads\":[0,1,1],\"score\":null,\"complete\":true"), "{json}");
    }

    #[test]
    fn an_svg_file_is_one_tree() {
        assert!(converted(TEXT, &["--output", "svg"]).is_err());
        let svg = converted(TEXT, &["--output", "svg", "--nth", "2"]).unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(converted(TEXT, &["--nth", "3"]).is_err());
        for (text, options, says) in [
            ("", &["--output", "svg"][..], "no tree to draw (read 0 trees, skipped 0)"),
            (
                "(S (A a)",
                &["--output", "svg", "--skip-bad"],
                "no tree to draw (read 0 trees, skipped 1",
            ),
            (TEXT, &["--output", "svg", "--nth", "3"], "--nth 3: the input has only 2 trees"),
        ] {
            let problem = converted(text, options).unwrap_err().to_string();
            assert!(problem.contains(says), "{problem}");
        }
        assert_eq!(converted("", &["--output", "text"]).unwrap(), "");
    }

    #[test]
    fn a_range_of_trees_is_drawn_on_a_page() {
        let page = converted(TEXT, &["--output", "html", "--nth", "1-2"]).unwrap();
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
        assert_eq!(page.matches("{\"n\":").count(), 2);
        let one = converted(TEXT, &["--output", "html", "--nth", "2-2"]).unwrap();
        assert!(one.contains("{\"n\":2,") && !one.contains("{\"n\":1,"), "{one}");
        for wrong in ["0", "2-1", "1-", "1-3"] {
            assert!(converted(TEXT, &["--nth", wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn text_drawings_are_cut_to_a_width() {
        let narrow = ["--output", "text", "--nth", "1", "--ascii", "--width", "10"];
        let drawn = converted(TEXT, &narrow).unwrap();
        assert_eq!(drawn, "TOP\n`- S\n   `- NP\n      |- >\n      `- >\n");
    }

    #[test]
    fn options_without_effect_are_refused() {
        for (options, says) in [
            (&["--heads", "left"][..], "--heads needs something"),
            (&["--output", "svg", "--nth", "1", "--ascii"], "add --output text"),
            (&["--width", "30"], "add --output text"),
            (&["--output", "text", "--width", "9"], "a number of columns from 10"),
        ] {
            let problem = converted(TEXT, options).unwrap_err().to_string();
            assert!(problem.contains(says), "{problem}");
        }
        assert!(converted(TEXT, &["--heads", HEADS]).is_ok());
    }
}
