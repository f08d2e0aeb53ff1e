//! The wires of model providers: no body and no stream stops them, a stream reads the same however it is cut, and what was
//! read of a request can be written and is read again.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tapewright_models::key::Key;
use tapewright_models::{Call, Ended, Framing, StreamReader, Wire, read_error, recognise};

const TARGETS: [&str; 6] = [
    "/v1/messages",
    "/v1/chat/completions",
    "/v1/responses",
    "/v1beta/models/m:generateContent",
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    "/x/openai/deployments/d/chat/completions?api-version=1",
];

fuzz_target!(|data: &[u8]| {
    let [kind, cut, body @ ..] = data else {
        return;
    };
    for target in TARGETS {
        recognise("POST", target, |_| None, Some(body));
    }
    if let Ok(target) = std::str::from_utf8(body) {
        recognise("POST", target, |_| None, None);
    }
    let wire = Wire::ALL[usize::from(kind % 4)];
    let framing = if kind & 4 == 0 {
        Framing::Sse
    } else {
        Framing::JsonArray
    };
    asked(wire, body);
    answered(wire, body);
    read_error(wire, 429, |_| None, body);
    let whole = streamed(wire, framing, body, body.len().max(1));
    let pieces = streamed(wire, framing, body, usize::from(*cut).max(1));
    assert_eq!(whole, pieces);
});

fn asked(wire: Wire, body: &[u8]) {
    let mut call = Call::generate(wire);
    call.model = Some("m".to_owned());
    let Ok(request) = wire.read_request(&call, body) else {
        return;
    };
    let key = Key::of(&request);
    assert!(key.fits(&key));
    key.masked();
    key.outline();
    let written = wire.write_request(&request).to_string();
    wire.read_request(&call, written.as_bytes())
        .expect("what we wrote is read");
}

fn answered(wire: Wire, body: &[u8]) {
    let Ok(response) = wire.read_response(body) else {
        return;
    };
    let written = wire.write_response(&response).to_string();
    wire.read_response(written.as_bytes())
        .expect("what we wrote is read");
    wire.write_stream(&response, 7);
}

fn streamed(wire: Wire, framing: Framing, body: &[u8], piece: usize) -> Option<Ended> {
    let mut reader = StreamReader::new(wire, framing);
    for chunk in body.chunks(piece) {
        reader.feed(&Bytes::copy_from_slice(chunk)).ok()?;
    }
    Some(reader.finish())
}
