//! A server of a suite, for requests other than its tests.

use std::sync::Arc;

use tapewright_config::suite::server::{Server, Target};
use tapewright_proxy::bridge::{Remote, RemoteSettings};
use tapewright_proxy::http::origin::{Origin, OriginUrl};
use tapewright_proxy::stdio::ChildProcess;
use tapewright_proxy::upstream::Upstream;

use super::Options;
use super::servers::{LONGEST_MESSAGE, fields, origin_settings};
use crate::command::upstream::Field;
use crate::report::{self, Mistake};

/// A server that can be asked, and its HTTP connections.
pub(crate) struct Reached {
    /// Opens conversations.
    pub(crate) upstream: Box<dyn Upstream>,
    /// For a server on HTTP, with the fields of every request.
    pub(crate) origin: Option<(Arc<Origin>, Vec<Field>)>,
}

/// Prepares a server; `None` for a recording, which cannot be asked anything new.
pub(crate) fn reached(server: &Server, options: &Options) -> anyhow::Result<Option<Reached>> {
    let name = report::safe(&server.name);
    match &server.target {
        Target::Cassette(_) => Ok(None),
        Target::Command(command) => {
            let (program, arguments) = command.argv.split_first().ok_or_else(|| {
                let what = format!("the command of `{name}` is empty");
                Mistake::new(what, "name a program")
            })?;
            let arguments = arguments.iter().map(Into::into).collect();
            let process = ChildProcess::new(program.into(), arguments);
            Ok(Some(Reached {
                upstream: Box::new(process.with_env(command.env.clone())),
                origin: None,
            }))
        }
        Target::Url(url) => {
            let place = OriginUrl::parse(&url.url).map_err(|why| {
                // A bad URL may contain a secret, and is not repeated.
                let what = format!("invalid URL of the server `{name}`: {why}");
                Mistake::new(what, "write it like `http://localhost:3001/mcp`")
            })?;
            let settings = origin_settings(&name, url)?;
            let origin = Origin::new(place, settings);
            let fields = fields(server, url, options)?;
            let remote = Remote::new(RemoteSettings {
                origin: Arc::clone(&origin),
                fields: fields.clone(),
                limit_bytes: LONGEST_MESSAGE,
            });
            Ok(Some(Reached {
                upstream: Box::new(remote),
                origin: Some((origin, fields)),
            }))
        }
    }
}
