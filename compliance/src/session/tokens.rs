//! Progress tokens: their requests, and the state of each.

use std::collections::{HashMap, VecDeque};

use super::Moment;
use crate::id::Key;

/// The tokens of requests in one direction.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    active: HashMap<Key, Token>,
    // Tokens whose request was answered, oldest first.
    done: HashMap<Key, Token>,
    order: VecDeque<Key>,
    forgotten: bool,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// Its request.
    pub(crate) request: Moment,
    /// The last progress, and its position.
    pub(crate) progress: Option<(Progress, u64)>,
    /// When the request was answered.
    pub(crate) answered: Option<Moment>,
    /// The conduit on which the answer came.
    pub(crate) answered_on: u32,
    /// When the request was given up.
    pub(crate) cancelled: Option<Moment>,
    /// It belongs to a task, and is still valid after the answer.
    pub(crate) task: bool,
}

/// A value of `progress`, compared exactly if it is an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Progress {
    Integer(i128),
    Other(f64),
}

/// The state of a progress token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TokenState {
    Active(Token),
    Done(Token),
    /// It may have been forgotten.
    Perhaps,
    Never,
}

const ACTIVE: usize = 16_384;
const DONE: usize = 4_096;

impl Tokens {
    pub(crate) fn find(&self, key: Key) -> TokenState {
        if let Some(token) = self.active.get(&key) {
            TokenState::Active(*token)
        } else if let Some(token) = self.done.get(&key) {
            TokenState::Done(*token)
        } else if self.forgotten {
            TokenState::Perhaps
        } else {
            TokenState::Never
        }
    }

    /// Begins the token of a request.
    pub(crate) fn begin(&mut self, key: Key, request: Moment, task: bool) {
        self.done.remove(&key);
        if self.active.len() >= ACTIVE && !self.active.contains_key(&key) {
            self.forgotten = true;
            return;
        }
        self.active.insert(
            key,
            Token {
                request,
                progress: None,
                answered: None,
                answered_on: 0,
                cancelled: None,
                task,
            },
        );
    }

    /// Progress was made.
    pub(crate) fn advance(&mut self, key: Key, progress: Progress, seq: u64) {
        let token = self
            .active
            .get_mut(&key)
            .or_else(|| self.done.get_mut(&key));
        if let Some(token) = token {
            token.progress = Some((progress, seq));
        }
    }

    /// The token's request was cancelled.
    pub(crate) fn cancel(&mut self, key: Key, moment: Moment) {
        if let Some(token) = self.active.get_mut(&key) {
            token.cancelled.get_or_insert(moment);
        }
    }

    /// The token's request was answered.
    pub(crate) fn end(&mut self, key: Key, answer: Moment, conduit: u32) {
        let Some(token) = self.active.get_mut(&key) else {
            return;
        };
        token.answered = Some(answer);
        token.answered_on = conduit;
        if token.task {
            return;
        }
        let token = *token;
        self.active.remove(&key);
        self.done.insert(key, token);
        self.order.push_back(key);
        while self.order.len() > DONE {
            if let Some(oldest) = self.order.pop_front()
                && self.done.remove(&oldest).is_some()
            {
                self.forgotten = true;
            }
        }
    }

    /// A task is over, so it is uncertain whether its tokens are still valid.
    pub(crate) fn forget_tasks(&mut self) {
        let before = self.active.len();
        self.active
            .retain(|_, token| !token.task || token.answered.is_none());
        self.forgotten |= self.active.len() != before;
    }
}

impl Progress {
    /// Reads a JSON number.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        if let Ok(integer) = text.parse() {
            return Some(Self::Integer(integer));
        }
        text.parse().ok().map(Self::Other)
    }

    /// Whether it is greater than `before`; `None` if that cannot be decided.
    #[expect(clippy::cast_precision_loss, reason = "a tie counts as unknown")]
    pub(crate) fn exceeds(self, before: Self) -> Option<bool> {
        let float = |one| match one {
            Self::Integer(integer) => integer as f64,
            Self::Other(float) => float,
        };
        match (before, self) {
            (Self::Integer(before), Self::Integer(now)) => Some(now > before),
            (before, now) => {
                let (before, now) = (float(before), float(now));
                let told = before.is_finite() && now.is_finite();
                told.then_some(now > before)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_compared_as_numbers() {
        let exceeds = |now: &str, before: &str| {
            let read = |text: &str| Progress::read(text.as_bytes()).unwrap();
            read(now).exceeds(read(before))
        };
        assert_eq!(exceeds("2", "1"), Some(true));
        assert_eq!(exceeds("9007199254740993", "9007199254740992"), Some(true));
        assert_eq!(exceeds("0.5", "0.5"), Some(false));
        assert_eq!(exceeds("1", "0.99"), Some(true));
        assert_eq!(exceeds("1e999", "1"), None);
    }

    #[test]
    fn a_token_that_was_forgotten_is_not_called_unknown() {
        let mut tokens = Tokens::default();
        let moment = Moment {
            seq: 1,
            at: tapewright_schemas::event::Offset(0),
        };
        for number in 0..10_000 {
            tokens.begin(Key::Integer(number), moment, false);
            tokens.end(Key::Integer(number), moment, 0);
        }
        assert!(matches!(
            tokens.find(Key::Integer(9_999)),
            TokenState::Done(_)
        ));
        assert!(matches!(tokens.find(Key::Integer(0)), TokenState::Perhaps));
        assert!(tokens.done.len() <= DONE && tokens.order.len() <= DONE);
    }
}
