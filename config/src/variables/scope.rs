//! The value of a name.

use std::collections::HashMap;
use std::fmt;

use tapewright_schemas::redact::is_secret_name;

use crate::secrets::Secrets;
use crate::suite::Suite;
use crate::suite::auth::Auth;
use crate::suite::http::HeaderValue;
use crate::suite::server::Target;
use crate::suite::variable::{Origin, Variable};

/// Values from outside the suite.
#[derive(Clone, Default)]
pub struct Environment {
    /// Given on the command line. They win over everything.
    given: HashMap<String, String>,
    /// The environment of the process.
    process: HashMap<String, String>,
    /// From `.env`, or from the given files instead.
    files: HashMap<String, String>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

impl Environment {
    /// From the command line, and the environment of the process.
    #[must_use]
    pub fn new(given: HashMap<String, String>, process: HashMap<String, String>) -> Self {
        Self {
            given,
            process,
            files: HashMap::new(),
        }
    }

    /// The same with values from files, which have the lowest precedence.
    pub(crate) fn with_files(self, files: HashMap<String, String>) -> Self {
        Self { files, ..self }
    }

    /// The value of an environment variable: from the process, then from files.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.process
            .get(name)
            .or_else(|| self.files.get(name))
            .map(String::as_str)
    }
}

/// Everything that has a name while a suite is loaded.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    environment: &'a Environment,
    declared: HashMap<&'a str, &'a Variable>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(environment: &'a Environment, declared: &'a [Variable]) -> Self {
        let declared = declared
            .iter()
            .map(|variable| (variable.name.as_str(), variable))
            .collect();
        Self {
            environment,
            declared,
        }
    }

    /// The value of a name, by precedence: the command line, the process, files, the suite. A
    /// variable that is set but empty counts as set.
    pub(super) fn value(&self, name: &str) -> Option<&'a str> {
        let outside = self.environment.given.get(name).map(String::as_str);
        outside.or_else(|| self.environment.get(name)).or_else(|| {
            match &self.declared.get(name)?.origin {
                Origin::Literal(value) => Some(value),
                Origin::Env { name, default } => self.environment.get(name).or(default.as_deref()),
            }
        })
    }

    /// Whether a name implies that its value is a secret, or that of the variable that it refers to
    /// does.
    pub(super) fn is_secret(&self, name: &str) -> bool {
        let behind = match self.declared.get(name).map(|variable| &variable.origin) {
            Some(Origin::Env { name, .. }) => is_secret_name(name),
            _ => false,
        };
        behind || is_secret_name(name)
    }

    /// Why a name has no value although the suite declares it.
    pub(super) fn declared_from(&self, name: &str) -> Option<&'a str> {
        match &self.declared.get(name)?.origin {
            Origin::Env { name, .. } => Some(name),
            Origin::Literal(_) => None,
        }
    }

    /// The names that the suite declares.
    pub(super) fn declared(&self) -> impl Iterator<Item = &'a str> {
        self.declared.keys().copied()
    }
}

/// Adds the values that a suite names as credentials.
pub(crate) fn add_credentials(suite: &Suite, environment: &Environment, secrets: &mut Secrets) {
    let mut add = |name: &str| {
        if let Some(value) = environment.get(name) {
            secrets.add(name, value);
        }
    };
    for server in &suite.servers {
        let Target::Url(url) = &server.target else {
            continue;
        };
        match &url.auth {
            Some(Auth::BearerEnv(name)) => add(name),
            Some(Auth::OAuth(oauth)) => oauth.client_secret_env.iter().for_each(|name| add(name)),
            None => {}
        }
        for header in &url.headers {
            if let HeaderValue::Env(name) = &header.value {
                add(name);
            }
        }
    }
    for provider in &suite.providers {
        provider.api_key_env.iter().for_each(|name| add(name));
    }
}
