//! Describes differences.

use serde_json::Value;
use tapewright_baselines::{
    ArgumentChange, ArgumentKind, Change, Entry, Field, Fingerprint, IdentityChange, TextChange,
    Violation,
};

use crate::report::figures::plural;

/// How many characters of a text or a value are shown.
const MOST: usize = 200;

/// An entry: a line, and more lines with details.
pub(super) fn of(entry: &Entry) -> String {
    let text = change(&entry.change);
    if entry.is_noise {
        format!("{text}\n  noise: the model differs from itself here")
    } else {
        text
    }
}

fn change(change: &Change) -> String {
    match change {
        Change::Same => "the same".to_owned(),
        Change::OnlyInBaseline => "the candidate has no such exchange".to_owned(),
        Change::OnlyInCandidate => "the baseline has no such exchange".to_owned(),
        Change::Order { before, after } => format!(
            "tools are called in a different order\n  before: {}\n  now:    {}",
            before.join(", "),
            after.join(", ")
        ),
        Change::MissingTool(tool) => format!("`{tool}` is no longer called"),
        Change::UnexpectedTool(tool) => format!("`{tool}` is newly called"),
        Change::Count {
            tool,
            before,
            after,
        } => format!(
            "`{tool}` is called {}, before {}",
            times(*after),
            times(*before)
        ),
        Change::ArgumentOrder {
            tool,
            nth,
            before,
            after,
        } => format!(
            "{}: the same arguments, written in another order{}",
            call(tool, *nth),
            both(before, after)
        ),
        Change::Arguments {
            tool,
            nth,
            arguments,
        } => {
            let each = arguments.iter().map(argument).collect::<String>();
            let is_new = arguments.iter().all(|one| one.kind == ArgumentKind::Added);
            let what = if is_new {
                "more arguments"
            } else {
                "other arguments"
            };
            format!("{}: {what}{each}", call(tool, *nth))
        }
        Change::Invariant { name, violation } => {
            format!("the invariant `{name}` does not hold: {}", why(violation))
        }
        other => content(other),
    }
}

fn content(change: &Change) -> String {
    match change {
        Change::BlockCount { before, after } => {
            let blocks = plural(*after as u64, "block");
            format!("the answer has {after} {blocks}, before {before}")
        }
        Change::BlockType { at, before, after } => {
            format!("block {} is `{after}`, before `{before}`", at + 1)
        }
        Change::BlockData {
            at,
            kind,
            members,
            is_additive,
        } => {
            let what = if *is_additive {
                "has more"
            } else {
                "is another one"
            };
            format!("block {} (`{kind}`) {what}: {}", at + 1, members.join(", "))
        }
        Change::Text {
            at,
            how,
            before,
            after,
        } => {
            let what = match how {
                TextChange::Case => "is the same but for capitals",
                TextChange::Whitespace => "is the same but for white space",
                TextChange::Words => "is another one",
            };
            format!("the text of block {} {what}{}", at + 1, both(before, after))
        }
        Change::Finish { before, after } => {
            format!(
                "the answer ended with `{}`, before `{}`",
                after.name(),
                before.name()
            )
        }
        _ => String::new(),
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

fn call(tool: &str, nth: usize) -> String {
    match nth {
        0 => format!("`{tool}`"),
        nth => format!("`{tool}`, call {}", nth + 1),
    }
}

fn both(before: &str, after: &str) -> String {
    format!("\n  before: {}\n  now:    {}", cut(before), cut(after))
}

fn argument(one: &ArgumentChange) -> String {
    let value = |value: &Option<Value>| {
        value
            .as_ref()
            .map_or(String::new(), |one| cut(&one.to_string()))
    };
    let (before, after) = (value(&one.before), value(&one.after));
    let place = if one.pointer.is_empty() {
        "/"
    } else {
        &one.pointer
    };
    let told = match one.kind {
        ArgumentKind::Added => format!("is new: {after}"),
        ArgumentKind::Removed => format!("is gone: {before}"),
        ArgumentKind::Value => format!("before {before}, now {after}"),
        ArgumentKind::Type => format!("of another type: before {before}, now {after}"),
    };
    format!("\n  {place} {told}")
}

/// Why an invariant does not hold.
pub(super) fn why(violation: &Violation) -> String {
    match violation {
        Violation::NotCalled { tool } => format!("`{tool}` is not called"),
        Violation::NoArgument { tool, arg } => {
            format!("a call of `{tool}` has no argument `{arg}`")
        }
        Violation::NoText { text } => format!("the text does not say `{}`", cut(text)),
        Violation::Slow { took_ms, ms } => {
            format!("the answer took {took_ms} ms and had to take less than {ms} ms")
        }
        Violation::NoLatency { ms } => {
            format!("it had to take less than {ms} ms, and how long it took was not captured")
        }
    }
}

/// A difference between the captures.
pub(super) fn identity(change: &IdentityChange) -> String {
    let IdentityChange {
        field,
        before,
        after,
    } = change;
    let told = format!(
        "{}: before {}, now {}",
        field.name(),
        cut(before),
        cut(after)
    );
    match field {
        Field::Declared => format!("{told}; those of the baseline count"),
        _ => told,
    }
}

/// How the fingerprints compare.
pub(super) fn fingerprint(one: &Fingerprint) -> String {
    if one.is_same() {
        return "the fingerprints are the same".to_owned();
    }
    let why = match (one.tool_sequence_changed, one.finish_reasons_changed) {
        (true, true) => "other tools and other ends",
        (true, false) => "other tools",
        (false, true) => "other ends",
        (false, false) => "the same tools and ends, with other arguments or steps",
    };
    format!("the fingerprints are {:.3} apart: {why}", one.distance)
}

/// How noise was determined.
pub(super) fn noise([before, after]: [u64; 2]) -> String {
    format!(
        "noise is what a model differs in from itself: the baseline was asked {}, the candidate {}",
        runs(before),
        runs(after)
    )
}

fn runs(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

/// The beginning of a text in one line.
fn cut(text: &str) -> String {
    let line: String = text.chars().take(MOST).collect();
    let line = line.replace('\n', "\\n");
    if text.chars().nth(MOST).is_some() {
        format!("{line} …")
    } else {
        line
    }
}
