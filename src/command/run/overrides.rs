//! Applies the server options of the command line to the suite.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tapewright_config::suite::auth::Auth;
use tapewright_config::suite::http::{Header, HeaderValue, Http};
use tapewright_config::suite::server::{CommandServer, Server, Target, UrlServer};
use tapewright_config::{EnvFiles, Environment, Files, SourceSpot, Suite, load};

use super::servers::ServerArguments;
use crate::files::Disk;
use crate::report::{self, Mistake};

/// Time limits for requests to a server.
#[derive(Clone, Copy)]
struct Limits {
    timeout: Option<Duration>,
    connect: Option<Duration>,
}

impl ServerArguments {
    /// Changes the servers of a suite, and prints which options did.
    pub(super) fn apply(&self, suite: &mut Suite) -> anyhow::Result<()> {
        let used = self.used();
        if used.is_empty() {
            return Ok(());
        }
        if self.names_a_server() {
            self.replace(suite)?;
        }
        let headers = self.headers();
        let limits = Limits {
            timeout: self.http_timeout,
            connect: self.connect_timeout,
        };
        for server in &mut suite.servers {
            let place = server.place.clone();
            if let Target::Url(url) = &mut server.target {
                self.reach(url, &headers, limits, &place);
            }
        }
        for (name, variable) in [&self.server_auth_bearer_env]
            .into_iter()
            .flatten()
            .map(|variable| (variable, variable))
            .chain(headers.iter().filter_map(|(name, value)| match value {
                HeaderValue::Env(variable) => Some((name, variable)),
                HeaderValue::Literal(_) => None,
            }))
        {
            if let Ok(value) = std::env::var(variable) {
                suite.secrets.add(name, &value);
            }
        }
        report::note(&format!("servers changed by {}", used.join(", ")));
        Ok(())
    }

    /// The names of the options that were given.
    pub(super) fn used(&self) -> Vec<&'static str> {
        let given = [
            ("--server-config", self.server_config.is_some()),
            ("--server-url", self.server_url.is_some()),
            ("--server-command", self.server_command.is_some()),
            (
                "--server-auth-bearer-env",
                self.server_auth_bearer_env.is_some(),
            ),
            ("--header", !self.headers.literals().is_empty()),
            ("--header-env", !self.headers.variables().is_empty()),
            ("--ca-bundle", self.ca_bundle.is_some()),
            ("--insecure-skip-verify", self.insecure_skip_verify),
            ("--http-timeout", self.http_timeout.is_some()),
            ("--connect-timeout", self.connect_timeout.is_some()),
        ];
        given
            .into_iter()
            .filter_map(|(name, given)| given.then_some(name))
            .collect()
    }

    fn names_a_server(&self) -> bool {
        self.server_config.is_some()
            || self.server_url.is_some()
            || self.server_command.is_some()
            || self.server_auth_bearer_env.is_some()
    }

    fn replace(&self, suite: &mut Suite) -> anyhow::Result<()> {
        let [server] = suite.servers.as_mut_slice() else {
            let names: Vec<String> = suite
                .servers
                .iter()
                .map(|server| format!("`{}`", report::safe(&server.name)))
                .collect();
            let what = format!(
                "ambiguous server options: the suite has {}",
                names.join(", ")
            );
            return Err(Mistake::new(what, "use them with a suite that has one server").into());
        };
        if let Some(path) = &self.server_config {
            server.target = configured(path)?;
        }
        if let Some(text) = &self.server_command {
            let argv = shell_words::split(text).unwrap_or_default();
            if argv.is_empty() {
                let what = "invalid `--server-command`: cannot split it into words";
                return Err(Mistake::new(what, "check the quotes").into());
            }
            server.target = Target::Command(CommandServer {
                argv,
                env: Vec::new(),
            });
        }
        if let Some(url) = &self.server_url {
            let old = std::mem::replace(&mut server.target, Target::Cassette(PathBuf::new()));
            let mut target = match old {
                Target::Url(url) => *url,
                _ => UrlServer {
                    url: String::new(),
                    auth: None,
                    wait_for_ready: None,
                    headers: Vec::new(),
                    http: Http::default(),
                },
            };
            target.url.clone_from(url);
            server.target = Target::Url(Box::new(target));
        }
        if let Some(variable) = &self.server_auth_bearer_env {
            bearer(server, variable)?;
        }
        Ok(())
    }

    fn reach(
        &self,
        url: &mut UrlServer,
        headers: &[(String, HeaderValue)],
        limits: Limits,
        place: &SourceSpot,
    ) {
        for (name, value) in headers {
            url.headers
                .retain(|one| !one.name.eq_ignore_ascii_case(name));
            url.headers.push(Header {
                name: name.clone(),
                value: value.clone(),
                place: place.clone(),
            });
        }
        url.http.timeout = limits.timeout.unwrap_or(url.http.timeout);
        url.http.connect_timeout = limits.connect.unwrap_or(url.http.connect_timeout);
        url.http.tls.insecure_skip_verify |= self.insecure_skip_verify;
        if self.ca_bundle.is_some() {
            url.http.tls.ca_bundle.clone_from(&self.ca_bundle);
        }
    }

    fn headers(&self) -> Vec<(String, HeaderValue)> {
        let literals = self.headers.literals().iter();
        let literals = literals.map(|header| {
            let value = HeaderValue::Literal(header.value());
            (header.name.clone(), value)
        });
        let variables = self.headers.variables().iter();
        let variables = variables.map(|header| {
            let value = HeaderValue::Env(header.variable.clone());
            (header.name.clone(), value)
        });
        literals.chain(variables).collect()
    }

    /// Refuses headers with credentials: these have their own option, which keeps them out of
    /// reports.
    pub(super) fn check_headers(&self) -> anyhow::Result<()> {
        let literals = self.headers.literals().iter();
        let literals = literals.map(|header| ("--header", &header.name));
        let variables = self.headers.variables().iter();
        let variables = variables.map(|header| ("--header-env", &header.name));
        for (option, name) in literals.chain(variables) {
            let reserved = ["authorization", "proxy-authorization"];
            if reserved.iter().any(|one| name.eq_ignore_ascii_case(one)) {
                let what = format!("`{option}` cannot set `{name}`");
                return Err(Mistake::new(what, "use `--server-auth-bearer-env VARIABLE`").into());
            }
        }
        Ok(())
    }
}

fn bearer(server: &mut Server, variable: &str) -> anyhow::Result<()> {
    let Target::Url(url) = &mut server.target else {
        let what = format!(
            "the server `{}` does not use HTTP",
            report::safe(&server.name)
        );
        return Err(Mistake::new(what, "give its URL with `--server-url`").into());
    };
    url.auth = Some(Auth::BearerEnv(variable.to_owned()));
    Ok(())
}

/// The server in the block `server:` of a file.
fn configured(path: &Path) -> anyhow::Result<Target> {
    let environment = Environment::new(
        std::collections::HashMap::new(),
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
    );
    let loaded = load(path, &AsSuite, &environment, &EnvFiles::Beside);
    let server = loaded
        .suite
        .as_ref()
        .and_then(|suite| suite.server("server"));
    if let Some(server) = server {
        return Ok(server.target.clone());
    }
    let shown = report::safe(&path.display().to_string());
    report::err(&report::issues::pretty(shown.clone(), loaded));
    let what = format!("no valid `server:` block in `{shown}`");
    Err(Mistake::new(
        what,
        "write `server:` with one server below it, as in a suite",
    )
    .into())
}

/// A file with a block `server:`, read as a suite whose only server is called `server`:
/// indented, below `servers:`.
struct AsSuite;

impl Files for AsSuite {
    fn read(&self, path: &Path, limit_bytes: u64) -> std::io::Result<Vec<u8>> {
        let bytes = Disk.read(path, limit_bytes)?;
        if path.file_name().is_some_and(|name| name == ".env") {
            return Ok(bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut out = String::from("servers:\n");
        for line in text.lines().filter(|line| line.trim_end() != "---") {
            out.push_str("  ");
            out.push_str(line);
            out.push('\n');
        }
        Ok(out.into_bytes())
    }

    fn canonical(&self, path: &Path) -> std::io::Result<PathBuf> {
        Disk.canonical(path)
    }
}
