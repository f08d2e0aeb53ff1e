//! Reading a file of a corpus: its head and its rules.

use super::rule::{CorpusFile, Rule, RuleAssertion, RuleExpect};
use super::{call, expect, names};
use crate::issue::Code;
use crate::read::Cursor;

/// Reads a whole file, which is in the folder of `version`.
pub(super) fn file(at: &Cursor<'_>, version: Option<&str>) -> CorpusFile {
    let mut fields = at.fields();
    let corpus = fields.required("corpus");
    let corpus = corpus.map(|at| head(&at, version));
    fields.finish_with(|key| match key {
        "category" | "spec_version" | "tickets" | "rules" => Some("put it into `corpus:`"),
        "version" => Some("this is a registry, and a folder of a version holds corpora"),
        _ => None,
    });
    corpus.unwrap_or_else(|| CorpusFile {
        category: String::new(),
        spec_version: None,
        tickets: Vec::new(),
        rules: Vec::new(),
    })
}

fn head(at: &Cursor<'_>, version: Option<&str>) -> CorpusFile {
    let mut fields = at.fields();
    let category = fields.required("category");
    let category = category.map(|at| names::category(&at)).unwrap_or_default();
    let spec_version = fields.optional("spec_version").map(|at| {
        let said = names::version(&at);
        another_version(&at, &said, version);
        said
    });
    let tickets = fields.names("tickets");
    let rules = fields.required("rules").map(|at| at.some_items());
    let rules = rules.unwrap_or_default();
    fields.finish();
    CorpusFile {
        rules: rules.iter().map(|at| rule(at, &category)).collect(),
        category,
        spec_version,
        tickets,
    }
}

fn another_version(at: &Cursor<'_>, said: &str, folder: Option<&str>) {
    if let Some(folder) = folder.filter(|folder| *folder != said) {
        let message = format!(
            "the file says that it is of `{}`, but is in the folder of `{folder}`",
            said.escape_debug()
        );
        let help = "a folder holds the rules of one version".to_owned();
        at.error(Code::Value, message, help);
    }
}

fn rule(at: &Cursor<'_>, category: &str) -> Rule {
    let mut fields = at.fields();
    let id = fields.required("rule_id");
    let id = id.map(|at| names::id(&at, category)).unwrap_or_default();
    let name = fields.name("name");
    let description = fields.optional_name("description");
    let assertions = fields.optional("assertions").map(|at| at.items());
    let applies_to = fields.optional("applies_to");
    let rule = Rule {
        id,
        name,
        description,
        assertions: assertions
            .unwrap_or_default()
            .iter()
            .map(assertion)
            .collect(),
        applies_to: applies_to
            .map(|at| names::transports(&at))
            .unwrap_or_default(),
        notes: fields.optional_name("notes"),
        place: at.place(),
    };
    fields.finish_with(|key| (key == "id").then_some("in a corpus it is called `rule_id`"));
    rule
}

fn assertion(at: &Cursor<'_>) -> RuleAssertion {
    let mut fields = at.fields();
    let sent = fields.optional("call").map(|at| call::call(&at));
    let expected = fields.optional("expect");
    let assertion = RuleAssertion {
        call: sent,
        expect: expected
            .as_ref()
            .map_or_else(RuleExpect::default, expect::expect),
        description: fields.optional_name("description"),
        place: at.place(),
    };
    let is_call = |key: &str| call::KEYS.contains(&key);
    let is_expect = |key: &str| expect::KEYS.contains(&key);
    fields.finish_with(|key| match key {
        _ if is_call(key) => Some("put it into `call:`"),
        _ if is_expect(key) => Some("put it into `expect:`"),
        _ => None,
    });
    assertion
}
