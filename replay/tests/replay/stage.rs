//! A session under test: a recording, a player, and a clock.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tapewright_replay::{Index, Options, Player, Report, Script, Sessionless, Tally};
use tapewright_schemas::redact::{Rules, Settings};

/// A session, and the recording that it plays.
pub(crate) struct Stage {
    pub(crate) player: Player,
    pub(crate) now: Duration,
    index: Arc<Index>,
    tally: Arc<Tally>,
    sessionless: Sessionless,
}

/// The default options.
pub(crate) fn options() -> Options {
    Options::new(rules(&[]))
}

pub(crate) fn rules(keys: &[&str]) -> Arc<Rules> {
    let settings = Settings {
        keys: keys.iter().map(|&key| key.to_owned()).collect(),
        ..Settings::default()
    };
    Arc::new(Rules::new(&settings).unwrap())
}

/// A cassette with these elements of `exchanges`.
pub(crate) fn cassette(exchanges: &[&str]) -> String {
    format!(r#"{{"version":"1","exchanges":[{}]}}"#, exchanges.join(","))
}

/// An exchange with this result.
pub(crate) fn exchange(method: &str, params: &str, result: &str) -> String {
    let params = match params {
        "" => String::new(),
        params => format!(r#","params":{params}"#),
    };
    format!(
        r#"{{"request":{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}},"response":{{"jsonrpc":"2.0","id":1,"result":{result}}}}}"#
    )
}

impl Stage {
    pub(crate) fn new(recording: &str) -> Self {
        Self::with(recording, options())
    }

    pub(crate) fn with(recording: &str, options: Options) -> Self {
        let script = Script::load(recording.as_bytes().to_vec()).unwrap();
        Self::playing(script, options)
    }

    /// A session that plays a script.
    pub(crate) fn playing(script: Script, options: Options) -> Self {
        let index = Arc::new(Index::new(Arc::new(script), Arc::new(options)));
        let (tally, sessionless) = (Arc::new(Tally::default()), Sessionless::new(&index));
        Self {
            player: Player::new(Arc::clone(&index), Arc::clone(&tally), sessionless.clone()),
            now: Duration::ZERO,
            index,
            tally,
            sessionless,
        }
    }

    /// Another session of the same replay.
    pub(crate) fn another(&self) -> Self {
        let (index, tally) = (Arc::clone(&self.index), Arc::clone(&self.tally));
        Self {
            player: Player::new(
                Arc::clone(&index),
                Arc::clone(&tally),
                self.sessionless.clone(),
            ),
            now: self.now,
            index,
            tally,
            sessionless: self.sessionless.clone(),
        }
    }

    /// Sends a line, and returns the immediate output.
    pub(crate) fn send(&mut self, line: &str) -> Vec<String> {
        self.player
            .handle(self.now, &Bytes::copy_from_slice(line.as_bytes()));
        self.said()
    }

    /// The current output.
    pub(crate) fn said(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        while let Some(output) = self.player.poll(self.now) {
            said.push(String::from_utf8(output.to_bytes().to_vec()).unwrap());
        }
        said
    }

    /// The output within so many milliseconds, with times.
    pub(crate) fn within(&mut self, millis: u64) -> Vec<(u64, String)> {
        let end = self.now + Duration::from_millis(millis);
        let mut said = Vec::new();
        while let Some(at) = self.player.poll_timeout().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            let at = u64::try_from(self.now.as_millis()).unwrap();
            said.extend(self.said().into_iter().map(|line| (at, line)));
        }
        self.now = end;
        said
    }

    /// Sends a request, and returns the answer.
    pub(crate) fn ask(&mut self, id: &str, method: &str, params: &str) -> Value {
        let params = match params {
            "" => String::new(),
            params => format!(r#","params":{params}"#),
        };
        let said = self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#
        ));
        assert_eq!(said.len(), 1, "{said:?}");
        serde_json::from_str(&said[0]).unwrap()
    }

    /// Sends a request, and returns the result as text.
    pub(crate) fn result(&mut self, method: &str, params: &str) -> String {
        let answer = self.ask("77", method, params);
        assert_eq!(answer["id"], 77, "{answer}");
        answer["result"].to_string()
    }

    /// Sends a request without a recording, and returns the error.
    pub(crate) fn missed(&mut self, method: &str, params: &str) -> Value {
        let answer = self.ask("77", method, params);
        assert_eq!(answer["error"]["code"], -32020, "{answer}");
        answer["error"].clone()
    }

    pub(crate) fn report(&self) -> Report {
        self.tally.report(&self.index)
    }
}
