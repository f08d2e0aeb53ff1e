//! Laws over files that are made up.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use proptest::prelude::*;
use tapewright_clients::{Document, Format, RecordOptions, Wrapped, apply, client};

/// White space and comments that are allowed between two tokens of JSON.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        4 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" /* \"x\": { */ ".to_owned()),
        1 => Just(" // }]\" \n".to_owned()),
    ]
}

fn words() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[ -~éß😀\t\\\\\"]{0,8}", 0..4)
}

/// A server, and the number of its arguments; `None` without `args`.
#[derive(Clone, Debug)]
struct Made {
    program: String,
    arguments: Option<Vec<String>>,
    turned: bool,
    gaps: Vec<String>,
    trailing: bool,
}

fn made() -> impl Strategy<Value = Made> {
    (
        "[a-zA-Z/ é\\\\\"]{1,8}",
        proptest::option::of(words()),
        any::<bool>(),
        proptest::collection::vec(gap(), 8),
        any::<bool>(),
    )
        .prop_map(|(program, arguments, turned, gaps, trailing)| Made {
            program,
            arguments,
            turned,
            gaps,
            trailing,
        })
}

impl Made {
    fn json(&self) -> String {
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let gap = |at: usize| self.gaps.get(at % self.gaps.len()).unwrap();
        let mut members = vec![format!(
            "{}\"command\"{}:{}{}",
            gap(0),
            gap(1),
            gap(2),
            quote(&self.program)
        )];
        if let Some(arguments) = &self.arguments {
            let quoted: Vec<String> = arguments.iter().map(|word| quote(word)).collect();
            let list = quoted.join(&format!(",{}", gap(3)));
            members.push(format!("{}\"args\":{}[{}{list}]", gap(4), gap(5), gap(6)));
        }
        members.push("\"env\": { \"KEY\": \"s\" }".to_owned());
        if self.turned {
            members.reverse();
        }
        let comma = if self.trailing { "," } else { "" };
        format!("{{{}{comma}{}}}", members.join(","), gap(7))
    }

    fn toml(&self, name: &str) -> String {
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let mut text = format!("[mcp_servers.{name}]\n");
        let command = format!("command = {} # c\n", quote(&self.program));
        let arguments = self.arguments.as_ref().map_or(String::new(), |arguments| {
            let quoted: Vec<String> = arguments.iter().map(|word| quote(word)).collect();
            format!("args = [{}]\n", quoted.join(", # x\n"))
        });
        let parts = if self.turned {
            [arguments, command]
        } else {
            [command, arguments]
        };
        text += &parts.concat();
        text + "env = { KEY = \"s\" }\n\n"
    }

    fn yaml(&self, name: &str) -> String {
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let dash = if self.trailing { "    - " } else { "      - " };
        let command = format!("    cmd: {} # c\n", quote(&self.program));
        let arguments = self.arguments.as_ref().map_or(String::new(), |arguments| {
            if arguments.is_empty() {
                return "    args: []\n".to_owned();
            }
            let lines: Vec<String> = arguments
                .iter()
                .map(|word| format!("{dash}{} # x\n", quote(word)))
                .collect();
            format!("    args: # words\n{}", lines.concat())
        });
        let parts = if self.turned {
            [arguments, command]
        } else {
            [command, arguments]
        };
        format!(
            "  {name}:\n    type: stdio\n{}    envs: {{ KEY: s }}\n",
            parts.concat()
        )
    }
}

/// A file with these servers.
fn file(format: Format, servers: &[Made], lines: &str, mark: bool) -> String {
    let each = servers.iter().enumerate();
    let named: Vec<(String, &Made)> = each.map(|(at, made)| (format!("s{at}"), made)).collect();
    let text = match format {
        Format::Json => {
            let entries: Vec<String> = named
                .iter()
                .map(|(name, made)| format!("\"{name}\":{}", made.json()))
                .collect();
            format!("{{\"first\":1,\"mcpServers\":{{{}}}}}", entries.join(",\n"))
        }
        Format::Toml => named.iter().map(|(name, made)| made.toml(name)).collect(),
        Format::Yaml => {
            let entries: String = named.iter().map(|(name, made)| made.yaml(name)).collect();
            format!("# first\nextensions:\n{entries}last: 1\n")
        }
    };
    let text = text.replace("\r\n", "\n").replace('\n', lines);
    if mark {
        format!("\u{feff}{text}")
    } else {
        text
    }
}

fn read(format: Format, text: &str) -> Document<'_> {
    let (id, key) = match format {
        Format::Json => ("cursor", "mcpServers"),
        Format::Toml => ("codex", "mcp_servers"),
        Format::Yaml => ("goose", "extensions"),
    };
    let servers = [vec![key.to_owned()]];
    Document::read(client(id).unwrap(), format, &servers, text).unwrap()
}

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::Json), Just(Format::Toml), Just(Format::Yaml)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn unwrap_puts_every_byte_back_in_any_order(
        format in format(),
        servers in proptest::collection::vec(made(), 1..4),
        lines in prop_oneof![Just("\n"), Just("\r\n")],
        mark in any::<bool>(),
        first_in_first_out in any::<bool>(),
    ) {
        let original = file(format, &servers, lines, mark);
        let how = RecordOptions {
            program: "/opt/tape wright/tapewright".to_owned(),
            options: vec!["-o".to_owned(), "C:\\x\\".to_owned()],
            gateway: None,
        };
        let mut text = original.clone();
        let mut all = Vec::new();
        for at in 0..servers.len() {
            let document = read(format, &text);
            let Ok(Wrapped::Changed(edits, kept)) = document.wrap(&format!("s{at}"), &how) else {
                panic!("not wrapped: {text}");
            };
            prop_assert!(edits.len() <= 2);
            text = apply(&text, &edits);
            all.push(kept);
        }
        prop_assert!(read(format, &text).servers().iter().all(|server| server.transport.is_recorder()));
        if first_in_first_out {
            all.reverse();
        }
        for kept in &all {
            let kept = serde_json::from_str(&serde_json::to_string(kept).unwrap()).unwrap();
            let restored = read(format, &text).unwrap(&kept).unwrap();
            text = apply(&text, &restored.edits);
        }
        prop_assert_eq!(text, original);
    }

    #[test]
    fn unwrap_keeps_what_others_changed_meanwhile(
        format in format(),
        servers in proptest::collection::vec(made(), 2..4),
        others in made(),
    ) {
        let how = RecordOptions {
            program: "tapewright".to_owned(),
            options: Vec::new(),
            gateway: None,
        };
        let original = file(format, &servers, "\n", false);
        let Ok(Wrapped::Changed(edits, kept)) = read(format, &original).wrap("s0", &how) else {
            panic!("not wrapped: {original}");
        };
        let wrapped = apply(&original, &edits);
        // Another program replaces the second server by a different one.
        let mut other = servers.clone();
        *other.get_mut(1).unwrap() = others;
        let changed = file(format, &other, "\n", false);
        let second = |text: &str| {
            let key = match format {
                Format::Json => "\"s1\":",
                Format::Toml => "[mcp_servers.s1]",
                Format::Yaml => "\n  s1:",
            };
            text.rfind(key).unwrap()
        };
        let foreign = format!(
            "{}{}",
            wrapped.get(..second(&wrapped)).unwrap(),
            changed.get(second(&changed)..).unwrap()
        );
        let restored = read(format, &foreign).unwrap(&kept).unwrap();
        prop_assert_eq!(apply(&foreign, &restored.edits), changed);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}\":,a \n#&*<!|/-]{0,60}", format in format()) {
        let client = client("goose").unwrap();
        let servers = [vec!["a".to_owned()], Vec::new()];
        if let Ok(document) = Document::read(client, format, &servers, &text) {
            for server in document.servers() {
                let how = RecordOptions { program: "t".to_owned(), options: Vec::new(), gateway: None };
                drop(document.wrap(&server.name, &how));
            }
            prop_assert!(document.hidden().len() <= text.len());
        }
    }
}
