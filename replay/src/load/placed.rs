//! Reads a tape by way of its cassette on a spool. The projector reports the positions of the
//! exchanges that it writes, so that they need not be parsed again.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::sync::mpsc::sync_channel;
use std::thread;

use tapewright_schemas::cassette::{Placed, Plain, Projector};
use tapewright_schemas::recording::NoPieces;
use tapewright_schemas::tape::{Ending, Reader};

use super::disk::{AHEAD, BUFFER, EXCHANGES, Loading, exchanges, read, read_events, script};
use super::parts::Exchanges;
use super::spooled::Spooled;
use super::{LoadError, Spool, scan};
use crate::script::{MethodId, Methods, Response, Script};
use crate::takes::{Numbers, Packed};

/// The maximum share of exchanges with unknown parts, as a divisor. With more of them, parsing
/// everything with many threads is faster than parsing the rest with one.
const FEW: usize = 8;

/// Reads a tape.
pub(super) fn read_tape(tape: File, spool: &Spool<'_>) -> Result<Option<Script>, LoadError> {
    let mut found = Found::default();
    let (mut spool, count) = cassette_of(tape, spool, &mut found)?;
    spool.rewind()?;
    let (file, is_first) = spool.into_parts();
    if is_first && found.is_enough(count) {
        return script(found.loading(&file), file);
    }
    // A late answer had to be inserted, which needs another file; or there is no answer.
    if let Some(script) = read(file.try_clone()?)? {
        return Ok(Some(script));
    }
    let (mut file, mut text) = (file, Vec::new());
    file.rewind()?;
    file.read_to_end(&mut text)?;
    Ok(Some(scan::read(&text.into())?))
}

/// Projects a tape, and returns the cassette and its number of exchanges.
fn cassette_of(
    tape: File,
    spool: &Spool<'_>,
    found: &mut Found,
) -> Result<(Spooled, u64), LoadError> {
    let reader = Reader::open(BufReader::with_capacity(BUFFER, tape))?;
    let (main, beside) = (Spooled::first(spool()?), Spooled::other(spool()?));
    let mut projector = Projector::new(reader.header(), main, beside).with_places();
    // One thread reads while the other projects.
    let reader = thread::scope(|scope| {
        let (give, given) = sync_channel(AHEAD);
        // Allocators are fastest when the allocating thread also frees: return projected events to
        // it.
        let (recycle, emptied) = sync_channel(AHEAD);
        let reading = scope.spawn(move || read_events(reader, &give, &emptied));
        for events in given {
            for read in &events {
                projector
                    .observe_message(&read.event, read.envelope().as_ref())
                    .map_err(LoadError::Projection)?;
            }
            drop(recycle.try_send(events));
            found.take(&mut projector);
        }
        match reading.join() {
            Ok(reader) => reader.map_err(LoadError::Tape),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    projector.settle_all().map_err(LoadError::Projection)?;
    found.take(&mut projector);
    let ending = reader.ending().cloned();
    let ending = ending.unwrap_or(Ending::CutShort {
        last_seq: 0,
        torn: false,
    });
    let (summary, spool) = projector
        .finish_in_place(&ending, || spool().map(Spooled::other))
        .map_err(LoadError::Projection)?;
    Ok((spool, summary.exchanges))
}

/// The exchanges that were written so far.
#[derive(Default)]
struct Found {
    exchanges: Exchanges,
    // Exchanges with unknown parts: the number of exchanges before, and the range of the text.
    unknown: Vec<(usize, usize, usize)>,
    methods: Methods,
    // The ids of the projector's methods.
    ids: Vec<MethodId>,
    // The start of the first and the end of the last.
    text: Option<(usize, usize)>,
}

impl Found {
    /// Takes over the exchanges written since the last call.
    fn take(&mut self, projector: &mut Projector<Spooled>) {
        let known = self.ids.len();
        for name in projector.methods().iter().skip(known) {
            self.ids.push(self.methods.admit(name.as_bytes()));
        }
        for Placed { text, plain } in projector.places() {
            let (first, _) = self.text.unwrap_or((text.start, text.end));
            self.text = Some((first, text.end));
            let packed = plain.and_then(|plain| self.packed(&plain));
            let packed = packed.unwrap_or_else(|| {
                let at = self.exchanges.packed.len();
                self.unknown.push((at, text.start, text.end));
                Packed::other(0)
            });
            self.exchanges.packed.push_back(packed);
        }
    }

    fn packed(&self, plain: &Plain) -> Option<Packed> {
        Packed::new(&Numbers {
            request: plain.request,
            id: Some(plain.id),
            params: plain.params,
            response: Response {
                span: plain.response,
                id: Some(plain.response_id),
            },
            method: *self.ids.get(plain.method)?,
            session: plain.session,
            sent_us: Some(plain.sent.0),
            took_us: Some(plain.took.0),
            seen: None,
        })
    }

    /// Whether all `count` exchanges were found, with the parts of nearly all.
    fn is_enough(&self, count: u64) -> bool {
        let met = self.exchanges.packed.len();
        met as u64 == count && self.unknown.len() <= met / FEW
    }

    /// The whole cassette: the exchanges, and the other parts, which are read now.
    fn loading(self, file: &File) -> Result<Loading, NoPieces> {
        let Self {
            mut exchanges,
            unknown,
            methods,
            text,
            ..
        } = self;
        let (first, last) = text.unwrap_or_default();
        let mut loading = Loading::knowing(methods, around(file, first, last)?)?;
        loading.shift_behind(first, last - first);
        loading.lists.insert(EXCHANGES);
        for (at, start, end) in unknown {
            let (mut one, methods) = one(file, start, end)?;
            let ids = loading.methods.admit_all(&methods);
            one.move_to(start, &ids);
            exchanges.replace(at, one);
        }
        loading.parts.exchanges = exchanges;
        Ok(loading)
    }
}

/// The text before and after the exchanges.
fn around(file: &File, first: usize, last: usize) -> Result<impl io::Read, NoPieces> {
    let mut head = vec![0; first];
    let mut file = file;
    file.seek(SeekFrom::Start(0)).map_err(NoPieces::Io)?;
    file.read_exact(&mut head).map_err(NoPieces::Io)?;
    file.seek(SeekFrom::Start(last as u64))
        .map_err(NoPieces::Io)?;
    Ok(io::Cursor::new(head).chain(file))
}

/// Parses one exchange.
fn one(file: &File, start: usize, end: usize) -> Result<(Exchanges, Methods), NoPieces> {
    let mut text = vec![b'['];
    let mut file = file;
    file.seek(SeekFrom::Start(start as u64))
        .map_err(NoPieces::Io)?;
    let length = (end - start) as u64;
    file.take(length)
        .read_to_end(&mut text)
        .map_err(NoPieces::Io)?;
    text.push(b']');
    exchanges(&text).ok_or(NoPieces::NoObject)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::io::Write as _;

    use super::*;

    /// A tape with all kinds of events, and a number of plain exchanges in between.
    fn tape(plain: usize) -> String {
        let odd = [
            // Answers that are lists are written in lines.
            (
                "s",
                r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#,
            ),
            (
                "c",
                r#"{"jsonrpc":"2.0","id":"list","result":{"tools":[{"name":"a"},{"name":"b"}]}}"#,
            ),
            // Messages in between, and messages in another order.
            ("s", r#"{"id":"two","method":"m\u0061","jsonrpc":"2.0"}"#),
            (
                "s",
                r#"{"params":{"a":[1]},"method":"mb","id":"\u0062","jsonrpc":"2.0"}"#,
            ),
            (
                "c",
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
            ),
            ("c", r#"{"result":1,"id":"b","jsonrpc":"2.0"}"#),
            (
                "c",
                r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"},"id":"two"}"#,
            ),
            ("c", r#"{"jsonrpc":"2.0","method":"notifications/later"}"#),
            // Invalid ids, and unanswered requests.
            ("s", r#"{"jsonrpc":"2.0","id":null,"method":"none"}"#),
            (
                "s",
                r#"{"jsonrpc":"2.0","id":2.50,"method":"hang","params":{"id":1}}"#,
            ),
            (
                "s",
                r#"[{"jsonrpc":"2.0","id":71,"method":"in/batch"},{"jsonrpc":"2.0","id":72,"method":"ma"}]"#,
            ),
            (
                "c",
                r#"[{"jsonrpc":"2.0","id":72,"result":{}},{"jsonrpc":"2.0","id":71,"result":[ 1 ]}]"#,
            ),
            (
                "s",
                r#"{"jsonrpc":"2.0","id":5,"id":6,"method":"x","method":"twice"}"#,
            ),
            ("c", r#"{"jsonrpc":"2.0","id":6,"result":"late"}"#),
            (
                "s",
                r#"{"jsonrpc":"2.0","id":-1e2,"method":"","params": [ ] }"#,
            ),
            ("c", r#"{"jsonrpc":"2.0","id":-1e2,"result":null}"#),
        ];
        let mut text = "{\"tape\":\"2.0\",\"label\":\"x\"}\n".to_owned();
        let mut seq = 0;
        let mut line = |way: &str, message: &str| {
            seq += 1;
            let dir = if way == "s" { "to_server" } else { "to_client" };
            writeln!(
                text,
                "{{\"seq\":{seq},\"at_us\":{seq}137,\"dir\":\"{dir}\",\"message\":{message}}}"
            )
            .unwrap();
        };
        for number in 100..100 + plain {
            let id = if number % 3 == 0 {
                format!("\"{number}\"")
            } else {
                number.to_string()
            };
            let params = if number % 5 == 0 {
                ""
            } else {
                r#","params":{"n":"é"}"#
            };
            line(
                "s",
                &format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"m{}"{params}}}"#,
                    number % 4
                ),
            );
            line(
                "c",
                &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":{number}}}}}"#),
            );
            if number == 100 + plain / 2 {
                for (way, message) in &odd {
                    line(way, message);
                }
            }
        }
        text
    }

    /// The content of a script, with the names of methods in place of their ids.
    fn told(script: &Script) -> Vec<String> {
        let mut all = Vec::new();
        for mut take in script.takes.iter() {
            let method = String::from_utf8_lossy(script.methods.name(take.method)).into_owned();
            take.method = MethodId::NONE;
            let request = script.source(take.request);
            all.push(format!(
                "{method} {take:?} {request:?} {:?}",
                script.cues(&take)
            ));
        }
        all.push(format!(
            "{:?} {:?} {:?}",
            script.asides, script.meta, script.sessions
        ));
        all
    }

    fn file_of(text: &str) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        file
    }

    #[test]
    fn what_is_placed_is_what_is_read() {
        let spool: &Spool<'_> = &|| tempfile::tempfile();
        for (plain, is_enough) in [(300, true), (2, false)] {
            let text = tape(plain);
            let mut found = Found::default();
            let (_, count) = cassette_of(file_of(&text), spool, &mut found).unwrap();
            assert_eq!(found.is_enough(count), is_enough);
            assert!(found.unknown.len() >= 2 && found.exchanges.packed.len() > plain);
            let there = read_tape(file_of(&text), spool).unwrap().unwrap();
            let here = Script::load(text).unwrap();
            let (there, here) = (told(&there), told(&here));
            assert_eq!(there.len(), here.len());
            for (there, here) in there.iter().zip(&here) {
                assert_eq!(there, here);
            }
        }
    }

    #[test]
    fn a_tape_without_exchanges_is_read() {
        let spool: &Spool<'_> = &|| tempfile::tempfile();
        let text = "{\"tape\":\"2.0\"}\n{\"seq\":1,\"at_us\":1,\"dir\":\"to_server\",\"message\":{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"a\"}}\n";
        let there = read_tape(file_of(text), spool).unwrap().unwrap();
        assert_eq!(told(&there), told(&Script::load(text.to_owned()).unwrap()));
    }
}
