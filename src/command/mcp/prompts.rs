//! Questions that people ask of recordings, as prompts.

use serde_json::{Map, Value, json};

use super::refusal::Refusal;
use crate::report::safe;

/// A question.
struct Question {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// The recordings that it is about, by the names of the arguments.
    recordings: &'static [(&'static str, &'static str)],
    /// What the agent is asked to do; `{NAME}` is a recording.
    text: &'static str,
}

const ALL: &[Question] = &[
    Question {
        name: "why_does_this_hang",
        title: "Why does this call hang?",
        about: "Find requests that were never answered, which peer owed the answer, and why",
        recordings: &[("recording", "The recording of the session that hangs")],
        text: "A call hangs. Find out why, from the tapewright recording `{recording}`.\n\n\
            1. `find_hangs`: which requests were never answered, or waited for long? Who asked?\n\
            2. `show_exchange` of each: what was asked, and did progress or a cancellation come?\n\
            3. `find_exchanges` with `kind:stderr,noise,gap,fault`: what did the server say \
            beside the protocol around that time, and was a fault injected?\n\
            4. `judge_recording` with `all`: did either side break the protocol before?\n\n\
            Tell which side owes the answer, what it last said, the most likely cause with the \
            events that prove it, and what to change. Say so when the recording does not tell.",
    },
    Question {
        name: "what_changed",
        title: "What changed between these recordings?",
        about: "Compare two recordings, and report the important differences",
        recordings: &[
            ("before", "The earlier recording"),
            ("after", "The later recording"),
        ],
        text: "Compare the tapewright recordings `{before}` (earlier) and `{after}` (later) with \
            `diff_recordings`.\n\n\
            Tell what a user of the server would notice: tools whose definitions changed, answers \
            that changed and where, what is new, what is gone, what became slower. For each, look \
            at both sides with `show_exchange` before you judge. Tell apart what looks wanted \
            from what looks like a regression.",
    },
    Question {
        name: "what_went_wrong",
        title: "What went wrong in this session?",
        about: "Errors, hangs and broken rules of a session, in order",
        recordings: &[("recording", "The recording of the session")],
        text: "Find out what went wrong in the tapewright recording `{recording}`.\n\n\
            1. `inspect_recording`: who spoke, what was called how often, how it ended.\n\
            2. `find_exchanges` with `status:error,cancelled,pending,gone`.\n\
            3. `find_hangs`, and `judge_recording` with `all`; `explain_code` for what you do not \
            know.\n\
            4. `show_exchange` of what looks like a cause.\n\n\
            Tell the first thing that went wrong, what followed from it, which side is at fault, \
            and what to change, each with the events that prove it.",
    },
];

/// All of them.
pub(super) fn all() -> Value {
    ALL.iter().map(Question::prompt).collect()
}

/// One, filled in.
pub(super) fn get(name: &str, arguments: &Map<String, Value>) -> Result<Value, Refusal> {
    let question = ALL.iter().find(|one| one.name == name).ok_or_else(|| {
        let name: String = name.chars().take(NAME_CHARS).collect();
        Refusal::invalid_params(format!("unknown prompt `{}`", safe(&name)))
    })?;
    let mut text = question.text.to_owned();
    for (argument, _) in question.recordings {
        let given = arguments.get(*argument).and_then(|value| value.as_str());
        let given = given.ok_or_else(|| {
            let why = format!("the prompt `{}` needs `{argument}`", question.name);
            Refusal::invalid_params(why)
        })?;
        let given: String = given.chars().take(NAME_CHARS).collect();
        text = text.replace(&format!("{{{argument}}}"), &safe(&given));
    }
    Ok(json!({
        "description": question.about,
        "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
    }))
}

impl Question {
    fn prompt(&self) -> Value {
        let arguments = self.recordings.iter().map(|(name, about)| {
            json!({
                "name": name,
                "description": format!("{about}, by its name in `list_recordings`"),
                "required": true,
            })
        });
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "arguments": arguments.collect::<Value>(),
        })
    }
}

const NAME_CHARS: usize = 200;
