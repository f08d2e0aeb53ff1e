//! The pages of docs/reference, generated from the program's own tables.
//!
//! A test fails if a page differs from its table; `TAPEWRIGHT_BLESS=1 cargo test -p
//! tapewright-commands reference` writes the pages again. The shipped program does not contain this
//! module.

mod commands;
mod formats;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tapewright_schemas::filter::WORDS;
use tapewright_schemas::published;

use crate::exit::Exit;

const MADE: &str =
    "<!-- Made of the code: TAPEWRIGHT_BLESS=1 cargo test -p tapewright-commands reference -->";

/// Compares a page with the existing one, or writes it.
fn page(name: &str, title: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/reference")
        .join(name);
    let wanted = format!("{MADE}\n\n# {title}\n\n{}\n", text.trim_end());
    if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, &wanted).expect("a page");
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/reference/{name} is stale: TAPEWRIGHT_BLESS=1 cargo test -p tapewright-commands reference"
    );
}

/// A text as Markdown: HTML is escaped, except in code.
fn markdown(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| {
        let is_code = at % 2 == 1;
        if is_code {
            part.to_owned()
        } else {
            part.replace('<', "&lt;")
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Like `markdown`, for the cell of a table.
fn cell(text: &str) -> String {
    markdown(text).replace('|', "\\|").replace('\n', " ")
}

#[test]
fn the_page_of_commands_is_not_stale() {
    page("commands.md", "Commands", &commands::all());
}

#[test]
fn the_page_of_statuses_is_not_stale() {
    let mut text = "The numbers are part of the interface: scripts and CI may depend on them.\n\n| status | meaning |\n|---|---|\n".to_owned();
    for (exit, meaning) in Exit::MEANINGS {
        writeln!(text, "| {} | {} |", exit.status(), cell(meaning)).expect("a text");
    }
    text += "\nOf several results the worst counts: 2 before 1, 1 before 3, 3 before 6.\n\n\
        `record` and `replay` around a command end as the command did, when they have nothing worse to say: with its status (of 32 bits on Windows), or by the signal that it died by. \
        Ctrl-C and SIGTERM end a session in order, and the recording is finished first.\n";
    page("exit-status.md", "Exit status", &text);
}

#[test]
fn the_page_of_filters_is_not_stale() {
    let mut text = "`show`, `tail` and the other views take filter words. All of them must hold, and `-` or `!` in front turns one round. \
        A word without a colon is looked for in the method, in the name of the tool, resource, prompt or model, and with `--full` in what was said. \
        The case of ASCII letters does not count.\n\n| word | takes |\n|---|---|\n"
        .to_owned();
    for (name, takes) in WORDS {
        writeln!(text, "| `{name}:` | {} |", cell(takes)).expect("a text");
    }
    text += "\n```sh\ntapewright show fs.tape.jsonl 'slow:>0ms' -method:ping\ntapewright show fs.tape.jsonl status:ok,error kind:exchange\n```\n\n\
        [Looking at a recording](../show.md) shows what comes of it.\n";
    page("filters.md", "Filter words", &text);
}

#[test]
fn the_page_of_matchers_is_not_stale() {
    let suite = published::find("suite").expect("a schema");
    let schema: serde_json::Value = serde_json::from_str(suite.text()).expect("JSON");
    let matchers = schema["$defs"]["matcher"]["properties"]
        .as_object()
        .expect("matchers");
    let mut text = "A matcher checks the value at a target of a test. `matcher` has exactly one; `not`, `oneOf`, `anyOf` and `allOf` combine others.\n\n\
        | matcher | holds if | takes |\n|---|---|---|\n"
        .to_owned();
    for (name, of) in matchers {
        let meaning = formats::description(&schema, of).expect("a description");
        let takes = formats::kind(of, "formats/suite.md");
        writeln!(text, "| `{name}` | {} | {takes} |", cell(meaning)).expect("a text");
    }
    text += "\n[Suites](../suites.md) explains targets and shows each matcher at work.\n";
    page("matchers.md", "Matchers", &text);
}

#[test]
fn the_pages_of_formats_are_not_stale() {
    let mut list = "Every file and every line of JSON that we read or write has a JSON Schema, which `tapewright schema NAME` prints. \
        These pages are made of them.\n\n| name | what it is |\n|---|---|\n"
        .to_owned();
    for schema in published::ALL {
        let name = schema.name;
        writeln!(
            list,
            "| [`{name}`](formats/{name}.md) | {} |",
            cell(schema.what)
        )
        .expect("a text");
        let value = serde_json::from_str(schema.text()).expect("JSON");
        page(
            &format!("formats/{name}.md"),
            name,
            &formats::of(name, &value),
        );
    }
    page("formats.md", "File formats", &list);
}
