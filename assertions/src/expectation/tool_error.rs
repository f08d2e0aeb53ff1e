//! A tool that says that it failed (`isError`): its own words belong to what is reported.

use tapewright_schemas::slices::Part as _;

use super::{Answer, Expectation, Outcome};
use crate::json::Json;

/// The maximum length of a tool's words, in characters.
const SHOWN: usize = 300;

/// Adds what the tool said to the first failure that does not show it already, or warns if nothing
/// was expected of the answer.
pub(super) fn note(expectation: &Expectation, answer: &Answer<'_>, outcome: &mut Outcome) {
    let Some(said) = said(answer.envelope) else {
        return;
    };
    if expectation.assertions.is_empty() {
        let said = said.map_or(String::new(), |said| format!(": {said}"));
        outcome.warnings.push(format!(
            "the tool says that it failed (`isError`), and the test has no assertion{said}"
        ));
        return;
    }
    let (Some(said), Some(failure)) = (said, outcome.failures.first_mut()) else {
        return;
    };
    let shown = failure.actual.as_ref().map(ToString::to_string);
    if shown.is_none_or(|shown| !shown.contains("isError") && !has(&shown, &said)) {
        failure.tool_error = Some(said);
    }
}

/// The tool's words, if it says that it failed and has any.
#[expect(clippy::option_option, reason = "a tool may fail without words")]
fn said(envelope: &Json) -> Option<Option<String>> {
    let result = envelope.get("result")?;
    let failed = result.get("isError") == Some(&Json::Bool(true));
    let Some(Json::Array(content)) = result.get("content").filter(|_| failed) else {
        return failed.then_some(None);
    };
    let text = content.iter().find_map(|one| one.get("text")?.as_str());
    Some(text.map(|text| match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.part(..at)),
        None => text.to_owned(),
    }))
}

/// Whether the source text of a value has these words.
fn has(shown: &str, said: &str) -> bool {
    let quoted = Json::from(said).to_string();
    shown.contains(quoted.trim_matches('"'))
}
