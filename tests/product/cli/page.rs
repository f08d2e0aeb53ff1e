//! `tapewright export --as html`.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::golden::{TAPE, cut_short, folder, run};

const MARKUP: &str = "</script><script>document.title='x'</script><img src=x onerror=alert(1)><!--";

fn page(tape: &str) -> String {
    let folder = folder(&[("fs.tape.jsonl", tape)]);
    let export = ["export", "fs.tape.jsonl", "--as", "html", "-o", "fs.html"];
    let (status, _, said) = run(folder.path(), &export);
    assert_eq!(status, 0, "{said}");
    fs::read_to_string(folder.path().join("fs.html")).unwrap()
}

/// The elements of data whose beginning holds this.
fn pieces(page: &str, of: &str) -> Vec<Value> {
    let rest = page.split(of).skip(1);
    let data = rest.map(|rest| rest.split_once("</script>").unwrap().0);
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn data(page: &str) -> Value {
    let one = |of: &str| pieces(page, of).pop().unwrap();
    let rows = pieces(page, "json\" class=\"rows\">");
    let rows: Vec<Value> = rows
        .iter()
        .flat_map(|piece| piece.as_array().unwrap().clone())
        .collect();
    serde_json::json!({ "head": one("id=\"head\">"), "entries": rows, "end": one("id=\"end\">") })
}

#[test]
fn a_page_holds_the_conversation_and_asks_nothing_of_a_network() {
    let page = page(TAPE);
    let data = data(&page);
    assert_eq!(data["head"]["file"], "fs.tape.jsonl");
    let entries = data["entries"].as_array().unwrap();
    let of = |kind: &str| entries.iter().filter(|one| one["kind"] == kind).count();
    assert_eq!((of("exchange"), of("stderr"), of("progress")), (3, 1, 1));
    let first = entries.iter().find(|one| one["id"] == "1").unwrap();
    let line = TAPE.lines().nth(5).unwrap();
    assert!(line.contains(first["request"].as_str().unwrap()), "{first}");
    assert_eq!(data["end"]["incomplete"], false);
    for way in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        let named = page.replace("http://json-schema.org", "");
        assert!(!named.contains(way), "{way}");
    }
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    assert!(page.len() < 200_000, "{}", page.len());
}

#[test]
fn nothing_that_a_peer_says_is_markup() {
    let said = serde_json::to_string(MARKUP).unwrap();
    let inner = said.trim_matches('"');
    let tape = TAPE
        .replace("\"read\"", &said)
        .replace("reading", inner)
        .replace("\"no\"", &said)
        .replace("\"files\"", &said);
    let page = page(&tape);
    // The head, the rows, the end and the script of the page.
    assert_eq!(page.matches("</script>").count(), 4);
    assert_eq!(page.matches("<script").count(), 4);
    assert!(!page.contains("<img") && !page.contains("<!--"));
    let data = data(&page).to_string();
    assert!(data.matches("onerror").count() >= 4, "{data}");
}

#[test]
fn a_page_of_a_tape_that_breaks_off_says_so() {
    let data = data(&page(cut_short()));
    assert_eq!(data["end"]["incomplete"], true);
    let text = data["end"]["text"].as_str().unwrap();
    assert!(
        text.contains("ends without a footer after event 9"),
        "{text}"
    );
}

#[test]
fn the_filter_of_the_page_is_that_of_the_command_line() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/page/filter.mjs");
    // CI has it; on other machines, use `.ci/peers page`.
    let Ok(output) = Command::new("node").arg(script).output() else {
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
}
