//! Patterns of requests.

use super::reply::Refusal;
use crate::found::Search;
use crate::tree::heads::HeadRules;

/// Compiles a pattern beside the thread that reads requests: expressions can take their time.
///
/// # Errors
/// When there is no pattern, or it is wrong or too long.
pub(super) async fn compile(
    pattern: Option<String>,
    heads: HeadRules,
    once: bool,
) -> Result<Search, Refusal> {
    let none = || Refusal::bad("a pattern is missing: add one such as pattern=NP+%3C+NN");
    let text = pattern.filter(|text| !text.trim().is_empty()).ok_or_else(none)?;
    let compiled = tokio::task::spawn_blocking(move || Search::new(&text, heads, once)).await;
    let search = compiled.map_err(|_| Refusal::defect())?;
    search.map_err(|error| Refusal::bad(error.to_string()))
}
