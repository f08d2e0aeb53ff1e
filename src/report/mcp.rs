//! The short texts next to the data in the answers of `mcp`. Writing to a string does not fail.

use std::fmt::Write as _;

use serde_json::Value;
use tapewright_compliance::finding::{Finding, Status};
use tapewright_schemas::summary::Hang;

use super::diff::Differing;
use super::figures::{duration, plural, size};
use super::{body, inspect, safe};
use crate::command::compliance::{Server, SessionVerdict, Verdicts};
use crate::command::mcp::answer::Piece;

/// One line below the other.
pub(crate) fn listed(lines: &[String]) -> String {
    lines
        .iter()
        .flat_map(|line| [line.as_str(), "\n"])
        .collect()
}

/// The recordings of a folder.
pub(crate) fn recordings(folder: &str, count: usize, lines: &[String]) -> String {
    if count == 0 {
        return format!(
            "No recordings in {folder} yet; make one with `tapewright record -- COMMAND`.\n"
        );
    }
    let word = plural(count as u64, "recording");
    format!(
        "{count} {word} in {folder}, the newest first\n\n{}",
        listed(lines)
    )
}

/// One of them.
pub(crate) fn recording(bytes: u64, told: &Value) -> String {
    let text = |name: &str| safe(told.get(name).and_then(Value::as_str).unwrap_or_default());
    let mut line = format!("{}  {}  {}", text("name"), size(bytes), text("changed"));
    if let Some(sessions) = told.get("sessions").and_then(Value::as_u64) {
        let word = plural(sessions, "session");
        let _never_fails = write!(line, "  {sessions} {word}");
    }
    if told.get("is_written") == Some(&Value::Bool(true)) {
        line.push_str("  still written");
    }
    if told.get("redacted") == Some(&Value::Bool(false)) {
        line.push_str("  not marked as redacted, and is not shown");
    }
    if told.get("problem").is_some() {
        let _never_fails = write!(line, "  {}", text("problem"));
    }
    line
}

/// Lines of a conversation.
pub(crate) fn lines(name: &str, lines: &[String], summary: &str) -> String {
    let (name, gap) = (safe(name), if lines.is_empty() { "" } else { "\n" });
    format!("{name}\n{gap}{}\n{summary}\n", listed(lines))
}

/// One exchange, with its messages.
pub(crate) fn exchange(line: &str, said: [&Option<Piece>; 2], notes: &[Value]) -> String {
    let mut text = format!("{line}\n");
    for (name, piece) in ["request", "answer"].into_iter().zip(said) {
        let Some(piece) = piece else {
            let _never_fails = write!(text, "\n{name}: there is none\n");
            continue;
        };
        let more = if piece.next.is_some() {
            ", in part"
        } else {
            ""
        };
        let said = body::text(piece.text.as_bytes(), body::Look::default());
        let _never_fails = write!(text, "\n{name}{more}:\n{said}");
    }
    if !notes.is_empty() {
        let count = notes.len();
        let word = plural(count as u64, "notification");
        let _never_fails = write!(text, "\n{count} {word} about it\n");
    }
    text
}

/// The hangs of a recording.
pub(crate) fn hangs(name: &str, count: u64, never: u64, lines: &[String]) -> String {
    let (name, word) = (safe(name), plural(count, "request"));
    if count == 0 {
        return format!("{name}: nothing hung, and every request was answered\n");
    }
    format!(
        "{name}: {count} {word} hung, {never} never answered\n\n{}",
        listed(lines)
    )
}

/// One hang, and how long it has been pending.
pub(crate) fn hang(one: &Hang, pending_ms: Option<f64>) -> String {
    let mut line = format!("event {}: {}", one.seq, inspect::hang(one));
    if let Some(pending) = pending_ms {
        let _never_fails = write!(line, ", by now for {}", duration(pending));
    }
    line
}

/// The findings of a check.
pub(crate) fn findings(
    name: &str,
    verdicts: &Verdicts,
    lines: &[String],
    notes: &[String],
) -> String {
    let sessions = verdicts.servers.len();
    let word = plural(sessions as u64, "session");
    let [failed, unsure, held] =
        [Status::Fail, Status::Inconclusive, Status::Pass].map(|status| verdicts.count(status));
    let broken = plural(failed as u64, "invariant");
    let mut text = format!(
        "{}: {sessions} {word}; {failed} {broken} broken, {held} held, {unsure} cannot be known\n",
        safe(name)
    );
    for server in verdicts.servers.iter().take(SESSIONS) {
        let _never_fails = writeln!(text, "{}", session(server));
    }
    if !lines.is_empty() {
        let _never_fails = write!(text, "\n{}", listed(lines));
    }
    for note in notes {
        let _never_fails = write!(text, "\nnote: {}\n", safe(note));
    }
    text
}

/// How many sessions the text mentions one by one.
const SESSIONS: usize = 20;

/// What the verdicts say about one session.
fn session(server: &Server) -> String {
    let [failed, raced, held, unsure] = [
        Status::Fail,
        Status::Race,
        Status::Pass,
        Status::Inconclusive,
    ]
    .map(|status| server.count(status));
    let said = match server.verdict() {
        SessionVerdict::Broken => {
            format!("broken: {failed} {}", plural(failed as u64, "invariant"))
        }
        SessionVerdict::Raced => format!("no invariant broken, but {raced} in a race"),
        SessionVerdict::Clean if unsure == 0 => format!("clean: no invariant broken, {held} held"),
        SessionVerdict::Clean => format!(
            "clean as far as the {} shows: no invariant broken, {held} held",
            server.kind.name()
        ),
        SessionVerdict::Unknown => "unknown: no invariant was tested".to_owned(),
    };
    let number = server.session.0;
    format!("session {number} ({}): {said}", safe(&server.label))
}

/// One finding.
pub(crate) fn finding(server: &Server, finding: &Finding) -> String {
    let evidence: Vec<String> = finding
        .evidence
        .iter()
        .map(|place| format!("event {} {}", place.seq, safe(&place.pointer)))
        .collect();
    format!(
        "{} {} (session {}, {}): {}\n    proved by {}",
        finding.code,
        finding.status.name(),
        server.session.0,
        finding.side.name(),
        safe(&finding.detail),
        evidence.join(", ")
    )
}

/// The differences.
pub(crate) fn differences(differing: &Differing<'_>, lines: &[String]) -> String {
    let (before, after) = (differing.before.display(), differing.after.display());
    let title = safe(&format!("{before} -> {after}"));
    let mut text = format!("{title}: {}\n", differing.summary());
    if !lines.is_empty() {
        let _never_fails = write!(text, "\n{}", listed(lines));
    }
    for note in differing.notes() {
        let _never_fails = write!(text, "\n{}\n", safe(&note));
    }
    text
}

/// The state of a recorder.
pub(crate) fn recorder(control: &str, told: &str) -> String {
    format!("{control}\n{}\n\n", told.trim_end())
}
