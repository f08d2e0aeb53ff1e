//! A model in place of the user.

use tapewright_models::conversation::{Block, Message, Request, Role};

use super::{Task, User};
use crate::text;

/// The message of the simulated user that ends the conversation.
pub(super) const DONE: &str = "DONE";

/// The request to a model for the user's next message: it sees the conversation from the other
/// side, and neither the agent's tools nor its instructions.
pub(super) fn request(task: &Task, messages: &[Message]) -> Request {
    let mut request = Request::new(task.wire, &task.model);
    if let User::Simulated { goal, persona, .. } = &task.user {
        request.system = vec![Block::text(instructions(goal, persona.as_deref()))];
    }
    request.sampling.max_tokens = Some(task.limits.max_tokens);
    request
        .messages
        .push(said(Role::User, "Begin the conversation."));
    for message in messages {
        let text = text::of_blocks(&texts(&message.blocks));
        let role = match message.role {
            Role::Assistant => Role::User,
            Role::User | Role::System => Role::Assistant,
        };
        if text.is_empty() {
            continue;
        }
        // Providers require alternating roles.
        match request.messages.last_mut() {
            Some(last) if last.role == role => last.blocks.push(Block::text(text)),
            _ => request.messages.push(said(role, &text)),
        }
    }
    request
}

/// The texts, without tools and their results.
fn texts(blocks: &[Block]) -> Vec<Block> {
    let texts = blocks.iter().filter(|block| block.as_text().is_some());
    texts.cloned().collect()
}

fn said(role: Role, text: &str) -> Message {
    Message::new(role, vec![Block::text(text)])
}

fn instructions(goal: &str, persona: Option<&str>) -> String {
    let persona = persona.map_or(String::new(), |one| format!("Who you are: {one}\n"));
    format!(
        "You play the user of an assistant. You are not the assistant.\n\
         What you want: {goal}\n{persona}\
         Write only what the user says next, in the first person. \
         When you have what you want, or see that you cannot get it, answer {DONE} and nothing else."
    )
}
