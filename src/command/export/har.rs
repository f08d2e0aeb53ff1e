//! A recording as an HTTP archive.

use std::io::{self, Write};

use super::moment;
use crate::files::{Frame, Recording};
use crate::report::har::{Archive, Clock, Entry, Exchanges};
use crate::report::{self, Mistake};

/// Writes the archive of a recording. Writes nothing if the recording has no HTTP.
///
/// # Errors
///
/// The recording has no times or no HTTP, or cannot be read, or the archive cannot be written.
pub(super) fn write(recording: Recording, out: &mut dyn Write) -> anyhow::Result<Frame> {
    let path = report::safe(&recording.path.display().to_string());
    let clock = Clock(moment(&recording)?);
    let header = recording.header();
    let mut archive = Archive::new(io::BufWriter::new(out), &header.label);
    let mut exchanges = Exchanges::new(clock, origin(&header.upstream));
    let mut written = Ok(());
    let frame = recording.events(|event| {
        exchanges.observe(event, |entry| put(&mut archive, &entry, &mut written));
        Ok(std::mem::replace(&mut written, Ok(()))?)
    })?;
    exchanges.finish(|entry| put(&mut archive, &entry, &mut written));
    written?;
    if archive.is_empty() {
        let what = format!("no HTTP exchanges in `{path}`");
        let hint = "export a stdio session with `--as html` or `--as otlp`";
        return Err(Mistake::new(what, hint).into());
    }
    archive.end()?;
    Ok(frame)
}

/// Scheme and authority of the server, for requests without a host.
fn origin(upstream: &str) -> String {
    let url = upstream.parse::<http::Uri>().ok();
    let authority = url.as_ref().and_then(http::Uri::authority);
    let scheme = url.as_ref().and_then(http::Uri::scheme_str);
    format!(
        "{}://{}",
        scheme.unwrap_or("http"),
        authority.map_or("localhost", |authority| authority.as_str())
    )
}

fn put(archive: &mut Archive<impl Write>, entry: &Entry, written: &mut io::Result<()>) {
    if written.is_ok() {
        *written = archive.entry(entry);
    }
}
