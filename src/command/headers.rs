//! `--header` and `--header-env`, shared by all commands that have them.

use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command};
use http::{HeaderName, HeaderValue};

use crate::report::Mistake;

/// Headers to add to requests.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HeaderArguments {
    /// Add this header to every request, and never record it; repeatable
    #[arg(long, value_name = "NAME: VALUE", value_parser = Secret(literal, "NAME: VALUE", "X-Tenant: acme"))]
    header: Vec<LiteralHeader>,
    /// Like `--header`, with the value of a variable; repeatable
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = Secret(from_variable, "NAME=VARIABLE", "X-Api-Key=MY_KEY"))]
    header_env: Vec<VariableHeader>,
}

/// A header with its value, which is never printed.
#[derive(Clone, Debug)]
pub(crate) struct LiteralHeader {
    /// The name as given.
    pub(crate) name: String,
    value: HeaderValue,
}

/// A header whose value is in an environment variable.
#[derive(Clone, Debug)]
pub(crate) struct VariableHeader {
    /// The name as given.
    pub(crate) name: String,
    pub(crate) variable: String,
}

/// A header to add, which is never recorded.
pub(crate) type Field = (HeaderName, HeaderValue);

impl HeaderArguments {
    /// An option that was given.
    pub(crate) fn option(&self) -> Option<&'static str> {
        match (&*self.header, &*self.header_env) {
            ([], []) => None,
            ([], _) => Some("--header-env"),
            _ => Some("--header"),
        }
    }

    /// Headers with values.
    pub(crate) fn literals(&self) -> &[LiteralHeader] {
        &self.header
    }

    /// Headers whose values are in variables.
    pub(crate) fn variables(&self) -> &[VariableHeader] {
        &self.header_env
    }

    /// These headers, following those of `before`.
    pub(crate) fn after(&self, before: &Self) -> Self {
        Self {
            header: [&before.header[..], &self.header].concat(),
            header_env: [&before.header_env[..], &self.header_env].concat(),
        }
    }

    /// The fields to add to every request, with the values of variables.
    pub(crate) fn fields(&self) -> anyhow::Result<Vec<Field>> {
        let mut fields = Vec::new();
        for header in &self.header {
            fields.push((HeaderName::try_from(&header.name)?, header.value.clone()));
        }
        for header in &self.header_env {
            let VariableHeader { name, variable } = header;
            let mistake = |what: &str| {
                let what = format!("invalid `--header-env {name}={variable}`: {what}");
                Mistake::new(what, "check the value of the variable")
            };
            let value = std::env::var(variable).map_err(|_| mistake("the variable is not set"))?;
            let value =
                sensitive(&value).ok_or_else(|| mistake("the value is not valid in a header"))?;
            fields.push((HeaderName::try_from(name)?, value));
        }
        Ok(fields)
    }
}

impl LiteralHeader {
    /// The value, which is a secret.
    pub(crate) fn value(&self) -> String {
        String::from_utf8_lossy(self.value.as_bytes()).into_owned()
    }
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn named(name: &str) -> Option<String> {
    let name = name.trim();
    HeaderName::try_from(name).ok().map(|_| name.to_owned())
}

/// Reads `NAME: VALUE`, or `NAME=VALUE` for older scripts.
fn literal(text: &str) -> Option<LiteralHeader> {
    let (name, value) = text.split_once([':', '='])?;
    Some(LiteralHeader {
        name: named(name)?,
        value: sensitive(value.trim())?,
    })
}

fn from_variable(text: &str) -> Option<VariableHeader> {
    let (name, variable) = text.split_once('=')?;
    if variable.is_empty() {
        return None;
    }
    Some(VariableHeader {
        name: named(name)?,
        variable: variable.to_owned(),
    })
}

/// Parses a value that may be a secret. Fields: the parser, the expected form, and an example.
/// Unlike clap's, its errors do not repeat the value.
#[derive(Clone)]
struct Secret<T>(fn(&str) -> Option<T>, &'static str, &'static str);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Secret<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let Self(parse, form, example) = self;
        value.to_str().and_then(parse).ok_or_else(|| {
            let name = option.and_then(Arg::get_long).unwrap_or_default();
            let text =
                format!("invalid value for '--{name}': expected `{form}`, such as `{example}`\n");
            clap::Error::raw(ErrorKind::ValueValidation, text).with_cmd(command)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_a_name_and_a_value_behind_a_colon_or_an_equals_sign() {
        let read = |text: &str| literal(text).map(|header| (header.name.clone(), header.value()));
        let pair = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(read("X-A: b=c"), pair("X-A", "b=c"));
        assert_eq!(read("X-A=b: c"), pair("X-A", "b: c"));
        assert_eq!(read("X-A:"), pair("X-A", ""));
        for bad in ["X-A", "", ": b", "a b: c", "X-A: b\nc"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_value_is_never_shown() {
        let header = literal("X-A: hunter2").unwrap();
        assert!(!format!("{header:?}").contains("hunter2"));
    }

    #[test]
    fn a_variable_has_a_name() {
        assert!(from_variable("X-A=TOKEN").is_some());
        for bad in ["X-A", "X-A=", "=TOKEN", "a b=TOKEN"] {
            assert!(from_variable(bad).is_none(), "{bad:?}");
        }
    }
}
