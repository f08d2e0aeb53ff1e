//! The scanner and the envelope view: no input stops them, and what counts as JSON is
//! what serde_json calls JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tapewright_schemas::conversation::Owed;
use tapewright_schemas::envelope::{Envelope, Kind, Malformed, for_each_message};
use tapewright_schemas::era::EraTracker;
use tapewright_schemas::event::Direction;
use tapewright_schemas::json;

fuzz_target!(|data: &[u8]| {
    let ours = json::is_valid(data);
    let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(data).is_ok();
    let depth = data
        .iter()
        .filter(|byte| matches!(byte, b'[' | b'{'))
        .count();
    assert!(ours == theirs || depth > json::MAX_DEPTH);
    let envelope = Envelope::parse(data);
    let no_json = matches!(
        envelope.kind,
        Kind::Malformed(Malformed::NotJson | Malformed::NotUtf8 | Malformed::Blank)
    );
    assert_eq!(no_json, !ours);
    let (mut eras, mut owed) = (EraTracker::default(), Owed::default());
    for_each_message(data, |message| {
        let envelope = Envelope::parse(message);
        for dir in [Direction::ToServer, Direction::ToClient] {
            eras.observe(dir, &envelope);
            owed.observe(dir, &envelope);
        }
    });
    json::find(data, &["params", "_meta", "progressToken"]);
});
