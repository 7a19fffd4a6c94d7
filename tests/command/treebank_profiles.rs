//! Treebank profiles: raw treebanks are trained on, parsed and scored by one command each, and nothing that is not a word,
//! a tag or a label reaches the model.

use std::path::Path;

use crate::command::{folder, srparse, text};
use srparse::model::{bincode_section, file};
use srparse::symbols::{Symbols, Vocabulary};
use tempfile::TempDir;

/// Invented sentences in the style of the Penn parsed corpora of historical English, with what such files have.
const PPCHE: &str = r#"
( (CODE <heading>))

( (IP-MAT (CODE <P_12>)
          (CODE ({COM:sic}))
          (NP-SBJ-1 (D-N þeir-sá) (NS-N menn-maður))
          (BEDI voru-vera)
          (ADJP (ADJ-N vel<dash/>búnir-velbúinn))
          (CP-REL (WNP-2 0) (C er-er)
                  (IP-SUB=1 (NP-SBJ *T*-2) (VBDI komu$-koma) (NP-OB1 (PRO-A $ðu-þú))))
          (. .-.))
  (ID 1210.SAMPLE.NAR-SAG,.1))

( (IP-MAT-SPE (CONJ og-og)
              (NP-SBJ *con*)
              (NP-MSR *ICH*-1)
              (VBDI sagði-segja)
              (, ,-,)
              (" "-")
              (CP-THT (C 0) (IP-SUB (NP-SBJ *pro*) (VBPI er-vera) (NP-PRD (NUM-N XXV-25) (NS-N ár-ár))
                      (PP (P {um}) (NP *arb*)) (NP-EXP *exp*)))
              (CODE <dash>) (, -) (, <dash/>-<dash/>) (LB |)
              (NP-MSR-1 (N-N (N21-G kapal-kapall) (N22-N hestur-hestur)))
              (. ?-?))
  (ID 1210.SAMPLE.NAR-SAG,.2))
"#;

/// Invented sentences in the style of the Keyaki Treebank.
const KEYAKI: &str = "
( (IP-MAT (PP;*SBJ* (NP;{DOG_1} (N 犬)) (P が)) (NP-SBJ *が*) (CONJ *)
          (IP-ADV (NP-OB1 *pro*) (PP (NP (N 水)) (P を)) (NP-OB1 *を*) (VB 飲ん) (P で))
          (-LRB- 「) (CP-THT-1 (VB 走る)) (-RRB- 」) (NP-VOC *ICH*-1) (NUM 0) (PU 。))
  (ID 1_sample;JP))
";

/// The symbols of a list, sorted, separated by spaces.
fn listed(symbols: &Symbols) -> String {
    let mut names: Vec<&str> = symbols.names().collect();
    names.sort_unstable();
    names.join(" ")
}

/// The words, tags and actions of a model.
fn contents(model: &Path) -> [String; 3] {
    let model = file::read(model).unwrap();
    let vocabulary: Vocabulary = bincode_section::get(&model.sections, "vocabulary").unwrap();
    let mut actions = model.header.actions.clone();
    actions.sort_unstable();
    [listed(vocabulary.words()), listed(vocabulary.tags()), actions.join(" ")]
}

/// Trains on a treebank, with itself as development set.
fn train(raw: &str, options: &[&str]) -> TempDir {
    let folder = folder(&[("raw.psd", raw.as_bytes())]);
    let mut train = srparse(&["train", "--quiet", "--set", "learner.epochs=6"]);
    train.args(["--train", "raw.psd", "--dev", "raw.psd", "--model", "m.srm"]).args(options);
    train.current_dir(folder.path()).assert().success();
    folder
}

fn output(folder: &TempDir, arguments: &[&str]) -> String {
    let done = srparse(arguments).current_dir(folder.path()).assert().success();
    text(&done.get_output().stdout)
}

#[test]
fn no_identifier_empty_element_code_or_lemma_of_a_historical_treebank_reaches_the_model() {
    let folder = train(PPCHE, &["--treebank", "ppche"]);
    let [words, tags, actions] = contents(&folder.path().join("m.srm"));
    assert_eq!(
        words,
        "\" $ðu , - . ? XXV er hestur kapal komu$ menn og sagði vel-búnir voru ár þeir"
    );
    assert_eq!(tags, "\" , . ADJ-N BEDI C CONJ D-N N21-G N22-N NS-N NUM-N PRO-A VBDI VBPI");
    assert_eq!(actions, "CLOSE FINISH OPEN-ADJP OPEN-CP OPEN-IP OPEN-N OPEN-NP SHIFT");
}

#[test]
fn a_model_reads_the_trees_of_its_treebank_as_it_was_trained_on_them() {
    let folder = train(PPCHE, &["--treebank", "ppche"]);
    let parsed = output(&folder, &["parse", "--model", "m.srm", "--input", "penn", "raw.psd"]);
    let cleaned = output(&folder, &["tree", "--treebank", "ppche", "raw.psd"]);
    // A tree without words gives a blank line.
    assert_eq!(parsed, format!("\n{cleaned}"));
    assert_eq!(cleaned.lines().count(), 2);
    assert!(cleaned.contains("(ADJP (ADJ-N vel-búnir))"), "{cleaned}");
    std::fs::write(folder.path().join("out.mrg"), parsed).unwrap();
    let report = output(&folder, &["eval", "--treebank", "ppche", "--json", "raw.psd", "out.mrg"]);
    for part in ["\"sentences\": 2", "\"f1\": 100.0", "\"errors\": 0"] {
        assert!(report.contains(part), "{part} is not in {report}");
    }
    // Plain sentences are taken as they are.
    let line = "0/NUM-N hálf-menn/NS-N";
    let mut parse = srparse(&["parse", "--model", "m.srm"]);
    let done = parse.current_dir(folder.path()).write_stdin(line).assert().success();
    let tree = text(&done.get_output().stdout);
    assert!(tree.contains("(NUM-N 0)") && tree.contains("(NS-N hálf-menn)"), "{tree}");
    let statistics = output(&folder, &["oracle", "--stats", "--treebank", "ppche", "raw.psd"]);
    assert!(statistics.starts_with("trees\t2\n"), "{statistics}");
    let accuracy = output(&folder, &["oracle", "--model", "m.srm", "raw.psd"]);
    assert!(accuracy.starts_with("trees\t2\ntrees that cannot be built\t0\n"), "{accuracy}");
}

#[test]
fn raw_keyaki_files_are_trained_on_and_full_width_brackets_are_words() {
    let folder = train(KEYAKI, &["--treebank", "keyaki"]);
    let [words, tags, actions] = contents(&folder.path().join("m.srm"));
    assert_eq!(words, "0 。 「 」 が で を 水 犬 走る 飲ん");
    assert_eq!(tags, "-LRB- -RRB- N NUM P PU VB");
    assert_eq!(actions, "CLOSE FINISH OPEN-CP OPEN-IP OPEN-NP OPEN-PP SHIFT");
}

#[test]
fn a_tagger_is_trained_on_stripped_sentences() {
    let folder = train(PPCHE, &["--treebank", "ppche", "--tagger"]);
    let mut tag = srparse(&["tag", "--model", "m.srm", "--input", "penn", "--accuracy", "raw.psd"]);
    let done = tag.current_dir(folder.path()).assert().success();
    let tagged = text(&done.get_output().stdout);
    assert!(tagged.contains("þeir/D-N menn/NS-N voru/BEDI vel-búnir/ADJ-N er/C"), "{tagged}");
    assert!(!tagged.contains("CODE") && !tagged.contains("SAMPLE"), "{tagged}");
}

#[test]
fn function_tags_can_be_kept_and_settings_have_the_last_word() {
    let folder = train(PPCHE, &["--treebank", "ppche", "--set", "clean.functions=keep"]);
    let [_, _, actions] = contents(&folder.path().join("m.srm"));
    assert!(actions.contains("OPEN-IP-MAT OPEN-IP-MAT-SPE OPEN-IP-SUB"), "{actions}");
    assert!(!actions.contains("SBJ-1") && !actions.contains('='), "{actions}");
    let parsed = output(&folder, &["parse", "--model", "m.srm", "--input", "penn", "raw.psd"]);
    assert!(parsed.contains("(TOP (IP-MAT (NP-SBJ (D-N þeir)"), "{parsed}");
    std::fs::write(folder.path().join("out.mrg"), parsed.replace("IP-MAT-SPE", "IP-MAT")).unwrap();
    let scored = ["eval", "--functions", "--treebank", "ppche", "--json", "raw.psd", "out.mrg"];
    let scores: serde_json::Value = serde_json::from_str(&output(&folder, &scored)).unwrap();
    assert_eq!(scores["all"]["f1"], 100.0);
    let missing = |row: &str| {
        let [gold, matched] = ["gold", "matched"].map(|key| scores["functions"][row][key].as_u64());
        gold.unwrap() - matched.unwrap()
    };
    assert_eq!((missing("brackets"), missing("tags")), (1, 1), "{scores}");
    let info = output(&folder, &["info", "m.srm"]);
    for setting in ["lemma_separator = \"-\"", "functions = \"keep\"", "heads = \"ppche\""] {
        assert!(info.contains(setting), "{setting} is not in {info}");
    }
}

#[test]
fn a_profile_may_be_a_file_and_its_mistakes_are_placed() {
    let folder = folder(&[
        ("my.toml", b"description = 'Mine.'\n[clean]\ndrop = ['META*']\n"),
        ("bad.toml", b"[clean]\ndrops = ['META*']\n"),
        ("other.toml", b"[clean]\n[learner]\nkind = 'maxent'\n"),
        ("raw.mrg", b"(S (METADATA (ID x)) (NP-SBJ (N-X a-b)))\n"),
        (
            "rules.toml",
            b"[clean]\nrules = '''\nMETADATA=m\n\nprune m\n\nNP-SBJ=n\n\nrelabel n NX-SBJ\n'''\n",
        ),
        ("list.toml", b"[clean]\nrelabel = { A = 'B' }\n"),
        ("wrong.toml", b"[clean]\nrules = '''\nNP=n\n\nrelable n NX\n'''\n"),
        (
            "endless.toml",
            b"[clean]\nrules = '''\nS=s\n\nadjoin (S (X@)) s\n'''\ndrop = ['META*']\n",
        ),
    ]);
    let tree = output(&folder, &["tree", "--treebank", "rules.toml", "raw.mrg"]);
    assert_eq!(tree, "(TOP (S (NX (N-X a-b))))\n");
    let tree = output(&folder, &["tree", "--treebank", "endless.toml", "raw.mrg"]);
    assert_eq!(tree, "(TOP (S (NP (N-X a-b))))\n");
    let tree = output(&folder, &["tree", "--treebank", "my.toml", "raw.mrg"]);
    assert_eq!(tree, "(TOP (S (NP (N-X a-b))))\n");
    for (profile, says) in [
        ("bad.toml", "bad.toml:2:1: clean.drops: no such key; did you mean `drop`?"),
        ("other.toml", "other.toml:2:2: learner: no such key; the keys of a treebank profile are"),
        (
            "wrong.toml",
            "wrong.toml:2:1: clean.rules: rules:3:1: no operation `relable`: did you mean",
        ),
        ("list.toml", "list.toml:2:1: clean.relabel: must be a list: write relabel = [ … ]\n"),
        ("keyak", "no profile or file `keyak`: did you mean `keyaki`?"),
    ] {
        let mut tree = srparse(&["tree", "--treebank", profile, "raw.mrg"]);
        let done = tree.current_dir(folder.path()).assert().code(2);
        let message = text(&done.get_output().stderr);
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn every_profile_is_listed_and_printed() {
    let here = tempfile::tempdir().unwrap();
    let info = output(&here, &["info"]);
    for name in ["ptb", "ppche", "keyaki", "negra", "spmrl", "ctb", "gum"] {
        assert!(info.contains(&format!("\n  {name:<28} ")), "{name}");
        let profile = output(&here, &["info", "--treebank", name]);
        assert!(profile.starts_with("# ") && profile.contains("[clean]"), "{profile}");
        let file = format!("{name}.toml");
        std::fs::write(here.path().join(&file), profile).unwrap();
        let cleaned = |profile: &str| {
            let mut tree = srparse(&["tree", "--treebank", profile]);
            let raw = "( (S-1 (NP-SBJ;{A} (X##m## a)) (NP:ON (C b)) (V *T*-1)) (ID c))";
            let done = tree.current_dir(here.path()).write_stdin(raw).assert().success();
            text(&done.get_output().stdout)
        };
        assert_eq!(cleaned(name), cleaned(&file));
    }
}

/// The notes that training prints.
fn notes(raw: &str, options: &[&str]) -> String {
    let folder = folder(&[("raw.psd", raw.as_bytes())]);
    let mut train = srparse(&["train", "--set", "learner.epochs=1", "--train", "raw.psd"]);
    let done = train.args(["--model", "m.srm"]).args(options).current_dir(folder.path()).assert();
    let messages = text(&done.success().get_output().stderr);
    let is_note = |line: &&str| line.starts_with("note: ") && !line.contains("left out");
    messages.lines().filter(is_note).collect::<Vec<_>>().join("\n")
}

#[test]
fn training_on_raw_trees_names_what_looks_wrong_and_the_setting_that_fixes_it() {
    let found = notes(PPCHE, &[]);
    for says in [
        "words that look like markup or comments: 5, such as (CODE <heading>) in raw.psd:2: try --set 'clean.drop=[\"CODE\"]'",
        "words that look like empty elements: 8, such as (NP-SBJ *T*-2) in raw.psd:4: try --set 'clean.traces=[\"-NONE-\", \
         \"*...\", \"0\"]'",
        "words that seem to be followed by a lemma: 15, such as (D-N þeir-sá) in raw.psd:4: try --set \
         'clean.lemma_separator=\"-\"'",
        "note: --treebank NAME has all settings for a known treebank: ptb, ctb, greynir, gum, icon, keyaki, negra, ppche, spmrl, squoia",
    ] {
        assert!(found.contains(says), "{says} is not in\n{found}");
    }
    assert_eq!(notes(PPCHE, &["--treebank", "ppche"]), "");
    assert_eq!(notes(PPCHE, &["--quiet"]), "");
    let found = notes(KEYAKI, &[]);
    assert!(found.contains("clean.separators=\"-=;\""), "{found}");
    assert!(!notes(KEYAKI, &["--treebank", "keyaki"]).contains("--set"), "{found}");
}

/// A sentence with crossing branches in both formats that have such.
const EXPORT: &str = "#FORMAT 3\n#BOS 1\nHunde\tNN\t--\tOA\t500\nhat\tVAFIN\t--\tHD\t501\nsie\tPPER\t--\tSB\t501\n\
                      gesehen\tVVPP\t--\tHD\t500\n.\t$.\t--\t--\t0\n#500\tVP\t--\tOC\t501\n\
                      #501\tS\t--\t--\t0\n#EOS 1\n";
const TIGER_XML: &str = "<?xml version='1.0' encoding='utf-8'?>\n<corpus><body><s><graph><terminals>\
     <t id='1' word='Hunde' pos='NN'/><t id='2' word='hat' pos='VAFIN'/><t id='3' word='sie' pos='PPER'/>\
     <t id='4' word='gesehen' pos='VVPP'/><t id='5' word='.' pos='$.'/></terminals><nonterminals>\
     <nt id='6' cat='S'><edge label='HD' idref='2'/><edge label='SB' idref='3'/><edge label='OC' idref='7'/></nt>\
     <nt id='7' cat='VP'><edge label='OA' idref='1'/><edge label='HD' idref='4'/></nt>\
     </nonterminals></graph></s></body></corpus>\n";

#[test]
fn export_files_and_tiger_xml_are_read_wherever_trees_are() {
    let files = [("a.export", EXPORT.as_bytes()), ("b.xml", TIGER_XML.as_bytes())];
    let folder = folder(&files);
    for (name, _) in files {
        let mut tree = srparse(&["tree", "--treebank", "negra", name]);
        let done = tree.current_dir(folder.path()).assert().success();
        let expected = "(TOP (S (NN Hunde) (VAFIN hat) (PPER sie) (VP (VVPP gesehen))) ($. .))\n";
        assert_eq!(text(&done.get_output().stdout), expected);
        let report = text(&done.get_output().stderr);
        assert!(report.contains("; one discontinuous node was made continuous"), "{report}");
        output(
            &folder,
            &["train", "--quiet", "--treebank", "negra", "--train", name, "--model", "m.srm"],
        );
        let parsed = output(&folder, &["parse", "--model", "m.srm", "--input", "penn", name]);
        assert_eq!(parsed, expected);
        std::fs::write(folder.path().join("out"), parsed).unwrap();
        let report = output(&folder, &["eval", "--json", "--treebank", "negra", name, "out"]);
        assert!(report.contains("\"f1\": 100.0"), "{report}");
        let kept =
            output(&folder, &["tree", "--treebank", "negra", "--clean", "functions=keep", name]);
        assert!(kept.contains("(VP-OC (VVPP gesehen))"), "{kept}");
    }
    std::fs::write(folder.path().join("a.export"), EXPORT.replace("\t501\nsie", "\t509\nsie"))
        .unwrap();
    let mut tree = srparse(&["tree", "a.export"]);
    let done = tree.current_dir(folder.path()).assert().code(2);
    let message = text(&done.get_output().stderr);
    assert!(message.contains("a.export:4:17: there is no node 509"), "{message}");
    let skipped =
        srparse(&["tree", "--skip-bad-trees", "a.export"]).current_dir(folder.path()).assert();
    let report = text(&skipped.success().get_output().stderr);
    assert!(
        report.contains("read 0 trees, skipped 1 (a.export:2: there is no node 509"),
        "{report}"
    );
}

#[test]
fn labels_of_development_trees_are_cut_at_the_separators_of_the_training_trees() {
    let raw = "(TOP (S#X (NP#SBJ (D the) (N dog)) (VP (V sings))))\n".repeat(20);
    let folder = train(&raw, &["--set", "clean.separators='#'"]);
    let model = file::read(&folder.path().join("m.srm")).unwrap();
    assert_eq!(model.header.dev.unwrap().f1, 100.0);
}
