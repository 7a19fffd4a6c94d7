//! What the reports say, on two or three hand-written sentences.

use super::*;
use crate::eval::Params;

/// One good sentence, one without a parse.
fn small() -> Evaluation {
    let mut evaluation = Evaluation::new(Params::default(), None);
    let gold = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits))))";
    evaluation.add_lines(gold, "(TOP (S (NP (DT the) (NN cat)) (ADVP (VBZ sits))))");
    evaluation.add_lines(gold, "(())");
    evaluation
}

fn text(evaluation: &Evaluation) -> String {
    let mut out = Vec::new();
    text::write(&mut out, evaluation).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn f1_with_failures_as_empty_stands_beside_evalbs_when_they_differ() {
    let report = text(&small());
    assert!(report.contains("F1                         66.67     66.67\n"), "{report}");
    assert!(report.contains("F1, failures empty         44.44     44.44\n"), "{report}");
    let mut perfect = Evaluation::new(Params::default(), None);
    perfect.add_lines("(NP (NN a))", "(NP (NN a))");
    assert!(!text(&perfect).contains("failures empty"));
}

#[test]
fn tables_list_labels_by_frequency_and_count_both_sides() {
    let report = text(&small());
    assert!(
        report.contains("ADVP                0        1        0     0.00     0.00     0.00\n")
    );
    assert!(report.find("NP  ").unwrap() < report.find("ADVP").unwrap());
    assert!(
        report.contains("2                   2        2        2   100.00   100.00   100.00\n"),
        "{report}"
    );
}

#[test]
fn json_has_the_documented_keys() {
    let mut out = Vec::new();
    json::write(&mut out, &small()).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(value["all"]["skipped"], 1);
    assert_eq!(value["len40"]["sentences"], 2);
    assert_eq!(value["all"]["coverage"], 50.0);
    assert_eq!(value["labels"][0]["label"], "NP");
    assert_eq!(value["children"][1]["gold"], 2);
    assert_eq!(value["lengths"][0]["length"], "1-10");
    assert!((value["all"]["f1_failures_empty"].as_f64().unwrap() - 400.0 / 9.0).abs() < 1e-9);
    assert!(value["all"].get("dependency").is_none(), "heads were not asked for");
}

#[test]
fn evalb_report_has_zero_where_evalb_has_not_a_number() {
    let mut out = Vec::new();
    evalb::summary(&mut out, &Evaluation::new(Params::default(), None)).unwrap();
    let report = String::from_utf8(out).unwrap();
    assert!(report.contains("Bracketing FMeasure       =   0.00\n"), "{report}");
}
