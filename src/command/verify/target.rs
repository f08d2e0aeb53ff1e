//! The server to verify.

use std::ffi::OsString;

use tapewright_proxy::stdio::ChildProcess;
use tapewright_proxy::upstream::Upstream;

use crate::command::upstream::UpstreamArguments;
use crate::report::Mistake;

/// The longest message of a server behind a bridge, in bytes; the same as for `record`.
const LONGEST_MESSAGE: usize = 64 << 20;

/// The server, and where to look if it cannot be reached.
pub(crate) fn of(
    server: &UpstreamArguments,
    command: &[OsString],
) -> anyhow::Result<(Box<dyn Upstream>, &'static str)> {
    match (server.url()?, command.split_first()) {
        (Some(url), _) => {
            let remote = server.remote(url, LONGEST_MESSAGE)?;
            Ok((Box::new(remote), "check the URL of `--upstream`"))
        }
        (None, Some((program, rest))) => {
            let child = ChildProcess::new(program.clone(), rest.to_vec());
            let hint = "check the command after `--`; it is started without a shell, as clients do";
            Ok((Box::new(child), hint))
        }
        (None, None) => Err(Mistake::new(
            "no server given",
            "give its command after `--`, or its URL with `--upstream`",
        )
        .into()),
    }
}
