//! Labels of nodes: those that only roots have, and what stands before functions and indices.

/// The label of a root.
pub const TOP: &str = "TOP";
/// Other labels that only roots have; the first stands for no label.
pub const OTHER_ROOTS: [&str; 4] = ["", "ROOT", "S1", "VROOT"];

/// Whether only roots have a label.
pub fn is_root_label(label: &str) -> bool {
    label == TOP || OTHER_ROOTS.contains(&label)
}

/// Returns a label without functions and indices.
pub fn base_label(label: &str) -> &str {
    let end = label.char_indices().skip(1).find(|(_, c)| matches!(c, '-' | '='));
    &label[..end.map_or(label.len(), |(at, _)| at)]
}

/// What is wrong with asking for a label with function tags where labels are compared without them, as `bare`; `None` if
/// it has no function tags.
pub(crate) fn function_tags_problem(label: &str, bare: &str) -> Option<String> {
    let has_tags = label != bare && !bare.is_empty();
    has_tags.then(|| format!("labels are compared without function tags: write {bare}"))
}
