//! How often each recorded request was played.
//!
//! A recording may have a million requests of which few are displayed, so each entry is made on
//! demand.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use tapewright_schemas::redact::Redactor;

use crate::script::{MethodId, Script};

/// The recorded requests, in the order of the recording.
#[derive(Clone)]
pub struct Requests {
    script: Arc<Script>,
    // How often each was played, up to the last one that was played.
    times: Vec<u32>,
    // The names of the script's methods, redacted.
    methods: Vec<String>,
}

/// One recorded request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Served {
    /// Its place in its file, as a JSON pointer.
    pub place: String,
    /// Its method.
    pub method: String,
    /// How often it was played.
    pub times: u32,
}

impl Requests {
    /// The requests of a script, and how often each was played.
    pub(crate) fn new(script: &Arc<Script>, times: &[u32], redactor: &mut Redactor) -> Self {
        let mut shown = |name: &[u8]| {
            let text = redactor.text(name);
            String::from_utf8_lossy(&text).into_owned()
        };
        Self {
            methods: script.methods.names().map(&mut shown).collect(),
            script: Arc::clone(script),
            times: times.to_vec(),
        }
    }

    /// The number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.script.takes.len()
    }

    /// Whether there are no requests.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All requests.
    pub fn iter(&self) -> impl Iterator<Item = Served> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The requests that were never played.
    pub fn unused(&self) -> impl Iterator<Item = Served> + '_ {
        let unused = (0..self.len()).filter(|at| self.times(*at) == 0);
        unused.filter_map(|at| self.get(at))
    }

    fn times(&self, at: usize) -> u32 {
        self.times.get(at).copied().unwrap_or_default()
    }

    fn get(&self, at: usize) -> Option<Served> {
        let take = self.script.takes.get(at)?;
        Some(Served {
            place: take.place.pointer(),
            method: self.method(take.method),
            times: self.times(at),
        })
    }

    // Empty for a request without a method.
    fn method(&self, method: MethodId) -> String {
        let name = self.methods.get(method.0 as usize);
        name.cloned().unwrap_or_default()
    }
}

impl PartialEq for Requests {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Requests {}

impl fmt::Debug for Requests {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Requests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
