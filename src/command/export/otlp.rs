//! A recording as a trace of OpenTelemetry: OTLP in JSON, a request in each line, as the collector's file receiver reads it.

use std::io::{self, Write};

use super::moment;
use crate::command::otlp::Tracer;
use crate::command::otlp::resource::Named;
use crate::files::{Frame, Recording};
use crate::report::otlp::{self, Attributes};
use crate::report::{Mistake, safe};

/// The largest number of spans in a line.
const BATCH: usize = 256;

/// Writes the spans of a recording; with `content`, also the arguments and results of tools.
pub(super) fn write(
    recording: Recording,
    content: bool,
    out: &mut dyn Write,
) -> anyhow::Result<Frame> {
    let header = recording.header();
    if content && !header.redacted {
        let path = safe(&recording.path.display().to_string());
        let what = format!("`{path}` is not redacted, and `--otlp-content` would send its secrets");
        let hint = "redact it first: `tapewright scrub FILE`";
        return Err(Mistake::new(what, hint).into());
    }
    let began = u64::try_from(moment(&recording)?.as_nanosecond()).unwrap_or_default();
    let mut tracer = Tracer::new(&header, began, content);
    let resource = Named::default().resource(&header);
    let (mut batch, mut line) = (Vec::new(), Vec::new());
    let mut out = io::BufWriter::new(out);
    let frame = recording.messages(|event, envelope| {
        tracer.observe(event, envelope, &mut batch);
        if batch.len() >= BATCH {
            put(&resource, &mut batch, &mut line, &mut out)?;
        }
        Ok(())
    })?;
    tracer.finish(&mut batch);
    put(&resource, &mut batch, &mut line, &mut out)?;
    out.flush()?;
    Ok(frame)
}

fn put(
    resource: &Attributes,
    batch: &mut Vec<otlp::Span>,
    line: &mut Vec<u8>,
    out: &mut impl Write,
) -> io::Result<()> {
    for some in batch.chunks(BATCH) {
        otlp::write(resource, some, line);
        line.push(b'\n');
        out.write_all(line)?;
        line.clear();
    }
    batch.clear();
    Ok(())
}
