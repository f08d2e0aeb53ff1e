//! Keeps probes: a client that supports two eras starts its server twice, once to send
//! `server/discover`, and again for the session. The cassette of the first start is replaced by
//! that of the second, which takes over its exchanges as `probes`: without them the recording could
//! not be served to the same client.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use tapewright_schemas::envelope::for_each_message;
use tapewright_schemas::json;

/// The maximum size of a probe, in bytes.
const LARGEST: u64 = 64 * 1024;

/// The end of a cassette.
const END: &[u8] = b"\n}\n";

/// Whether a cassette contains only `server/discover`.
pub(super) fn is_probe(path: &Path) -> bool {
    exchanges(path).is_some()
}

/// Adds the exchanges of the probe at `probe` to the cassette at `cassette`, which is about to
/// replace it.
pub(super) fn take_along(probe: &Path, cassette: &Path) -> io::Result<()> {
    let Some(exchanges) = exchanges(probe).filter(|found| !found.is_empty()) else {
        return Ok(());
    };
    if is_probe(cassette) {
        return Ok(());
    }
    let mut file = OpenOptions::new().read(true).write(true).open(cassette)?;
    let behind = i64::try_from(END.len()).unwrap_or_default();
    file.seek(SeekFrom::End(-behind))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    if end != END {
        return Ok(());
    }
    file.seek(SeekFrom::End(-behind))?;
    let mut text = b",\n  \"probes\": [".to_vec();
    for (place, exchange) in exchanges.iter().enumerate() {
        text.extend_from_slice(if place == 0 { b"\n    " } else { b",\n    " });
        text.extend_from_slice(exchange);
    }
    text.extend_from_slice(b"\n  ]");
    text.extend_from_slice(END);
    file.write_all(&text)
}

/// The exchanges of a probe; `None` for any other cassette.
fn exchanges(path: &Path) -> Option<Vec<Vec<u8>>> {
    if fs::metadata(path).ok()?.len() > LARGEST {
        return None;
    }
    let text = fs::read(path).ok()?;
    let mut found = Vec::new();
    let mut probes = true;
    for_each_message(json::find(&text, &["exchanges"])?, |exchange| {
        let method = json::find(exchange, &["request", "method"]);
        probes &= method == Some(b"\"server/discover\"".as_slice());
        found.push(exchange.to_vec());
    });
    probes.then_some(found)
}
