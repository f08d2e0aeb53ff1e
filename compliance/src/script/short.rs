//! Abbreviations for several lines of the notation.

/// The lines that a word abbreviates; `None` if it is not an abbreviation.
pub(super) fn expand(word: &str, rest: &str) -> Option<String> {
    let mut words = rest.split(' ').filter(|word| !word.is_empty());
    Some(match word {
        "handshake-http" => format!(
            "opening-http 2025-11-25 abc\npost 9 abc 2025-11-25\n{INITIALIZED}\nstatus 202\nclose <"
        ),
        "json" => "status 200\nheader content-type: application/json".to_owned(),
        "stream" => "status 200\nheader content-type: text/event-stream".to_owned(),
        "opening-http" => opening(words.next()?, words.next()),
        "post" | "get" | "delete" => {
            let mut lines = format!(
                "conduit {} {} /mcp",
                words.next()?,
                word.to_ascii_uppercase()
            );
            if let Some(id) = words.next().filter(|id| *id != "-") {
                lines = format!("{lines}\nheader mcp-session-id: {id}");
            }
            match words.next() {
                Some(revision) => format!("{lines}\nheader mcp-protocol-version: {revision}"),
                None => lines,
            }
        }
        _ => return None,
    })
}

/// A session begins over HTTP; `initialized` is still to come.
fn opening(revision: &str, id: Option<&str>) -> String {
    let header = id.map_or(String::new(), |id| format!("header mcp-session-id: {id}\n"));
    format!(
        r#"session 1
conduit 1 POST /mcp
> {{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}
json
{header}< {{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}
close <"#
    )
}

const INITIALIZED: &str = r#"> {"jsonrpc":"2.0","method":"notifications/initialized"}"#;
