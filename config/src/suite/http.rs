//! `headers` and `http` of an HTTP server.

use std::path::PathBuf;
use std::time::Duration;

use crate::issue::Code;
use crate::read::{Cursor, is_header_name};
use crate::source::SourceSpot;

/// A header that every request carries.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its name, as written.
    pub name: String,
    /// The source of its value.
    pub value: HeaderValue,
    /// Its position.
    pub place: SourceSpot,
}

/// The source of a header's value.
#[derive(Clone, Debug)]
pub enum HeaderValue {
    /// The suite.
    Literal(String),
    /// This environment variable, read when connecting to the server.
    Env(String),
}

/// Settings of the HTTP client.
#[derive(Clone, Debug)]
pub struct Http {
    /// The timeout of one request.
    pub timeout: Duration,
    /// Limit of opening a connection, TLS included.
    pub connect_timeout: Duration,
    /// The maximum number of redirects that are followed; 0 for none.
    pub max_redirects: u8,
    /// Whether `User-Agent` is replaced by that of the runner.
    pub user_agent_override: bool,
    /// Settings of TLS.
    pub tls: Tls,
}

/// Settings of TLS.
#[derive(Clone, Debug)]
pub struct Tls {
    /// Certificates are not checked.
    pub insecure_skip_verify: bool,
    /// Certificates of authorities in PEM, resolved like a cassette.
    pub ca_bundle: Option<PathBuf>,
    /// The oldest version that is accepted.
    pub min_version: TlsVersion,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVersion {
    /// 1.2.
    V1_2,
    /// 1.3.
    V1_3,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            max_redirects: 5,
            user_agent_override: true,
            tls: Tls::default(),
        }
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            insecure_skip_verify: false,
            ca_bundle: None,
            min_version: TlsVersion::V1_2,
        }
    }
}

impl Http {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut http = Self::default();
        let mut fields = at.fields();
        if let Some(timeout) = fields.optional("timeout") {
            http.timeout = timeout.duration().unwrap_or_default();
        }
        if let Some(timeout) = fields.optional("connect_timeout") {
            http.connect_timeout = timeout.duration().unwrap_or_default();
        }
        if let Some(most) = fields.optional("max_redirects") {
            http.max_redirects = u8::try_from(most.integer_within(0, 50)).unwrap_or(0);
        }
        if let Some(flag) = fields.optional("user_agent_override") {
            http.user_agent_override = flag.boolean();
        }
        if let Some(tls) = fields.optional("tls") {
            http.tls = Tls::read(&tls);
        }
        fields.finish_with(|key| (key == "mtls").then_some(NO_CLIENT_CERTIFICATES));
        http
    }
}

impl Tls {
    fn read(at: &Cursor<'_>) -> Self {
        let mut tls = Self::default();
        let mut fields = at.fields();
        if let Some(flag) = fields.optional("insecure_skip_verify") {
            tls.insecure_skip_verify = flag.boolean();
        }
        if let Some(path) = fields.optional("ca_bundle_path") {
            tls.ca_bundle = Some(PathBuf::from(path.name()));
        }
        if let Some(version) = fields.optional("min_version")
            && version.word(&["1.2", "1.3"]) == Some("1.3")
        {
            tls.min_version = TlsVersion::V1_3;
        }
        fields.finish_with(|key| (key == "mtls").then_some(NO_CLIENT_CERTIFICATES));
        tls
    }
}

/// Reads `headers`.
pub(super) fn headers(at: &Cursor<'_>) -> Vec<Header> {
    let mut found: Vec<Header> = Vec::new();
    for (name, value) in at.entries() {
        check_name(name, &value);
        if found
            .iter()
            .any(|header| header.name.eq_ignore_ascii_case(name))
        {
            let message = format!("duplicate header `{name}`; header names are case-insensitive");
            value.error_at_key(Code::DuplicateName, message, None);
        }
        found.push(Header {
            name: name.to_owned(),
            value: header_value(&value),
            place: value.place(),
        });
    }
    found
}

fn check_name(name: &str, at: &Cursor<'_>) {
    if !is_header_name(name) {
        let help = "letters, digits and ! # $ % & ' * + - . ^ _ ` | ~".to_owned();
        let message = format!("`{}` is not the name of a header", name.escape_debug());
        at.error_at_key(Code::Value, message, help);
    } else if name.eq_ignore_ascii_case("authorization")
        || name.eq_ignore_ascii_case("proxy-authorization")
    {
        let help = "use `auth`, whose values are kept out of reports".to_owned();
        at.error_at_key(
            Code::Value,
            format!("`{name}` is not allowed in `headers`"),
            help,
        );
    }
}

fn header_value(at: &Cursor<'_>) -> HeaderValue {
    if !at.is_object() {
        if at.is_text() {
            return HeaderValue::Literal(at.text());
        }
        at.wrong_type("a string or an object with `env`");
        return HeaderValue::Literal(String::new());
    }
    let mut fields = at.fields();
    let env = fields
        .required("env")
        .map(|env| env.name())
        .unwrap_or_default();
    fields.finish();
    HeaderValue::Env(env)
}

const NO_CLIENT_CERTIFICATES: &str = "client certificates are not part of version 1";
