//! Reads the exchanges of a long cassette with several threads.
//!
//! Where an exchange begins is only certain after reading everything before it. So each thread but
//! the first starts at a place that *looks* like the start of an exchange, and its result counts
//! only if the previous thread arrives at exactly that place, between two elements. A wrong guess
//! only costs time.

use std::num::NonZero;
use std::thread;

use tapewright_schemas::json::Scanner;
use tapewright_schemas::slices::Part as _;

use super::parts::Draft;
use super::scan::{Scan, Stop};
use crate::script::Methods;

/// The minimum number of bytes per thread, below which threads cost more than they gain.
const SHARE: usize = 1 << 20;

/// More threads than this only contend for memory bandwidth.
const MOST: usize = 4;

/// The maximum distance between the end of an element and a guessed start at which the text in
/// between is checked for being a single comma.
const NEAR: usize = 64;

/// The maximum number of false candidates that are examined for each guess.
const TRIES: usize = 16;

/// The result of one thread.
pub(super) struct Piece<'t> {
    pub(super) drafts: Vec<Draft>,
    pub(super) methods: Methods,
    /// The scanner after the last element, or after the array.
    pub(super) scanner: Scanner<'t>,
    /// The guess that it arrived at; `None` at the end of the array.
    pub(super) arrived: Option<usize>,
}

/// The number of threads that pay off for a text of this length.
pub(crate) fn threads(bytes: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    (bytes / SHARE).clamp(1, cores.min(MOST))
}

/// Places between `from` and the end that look like starts of exchanges, and that split the text
/// into one piece per thread.
pub(super) fn guesses(text: &[u8], from: usize) -> Vec<usize> {
    let length = text.len().saturating_sub(from);
    let threads = threads(length);
    let mut found: Vec<usize> = (1..threads)
        .filter_map(|piece| likely_start(text, from + length / threads * piece))
        .collect();
    found.dedup();
    found
}

/// The next `{"request"` after a comma. In a string its quotes would be escaped; an object that
/// looks like it may still be part of a message.
fn likely_start(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    memchr::memmem::find_iter(rest, b"\"request\"")
        .take(TRIES)
        .find_map(|at| {
            let before = text.part(..from + at).trim_ascii_end();
            let before = before.strip_suffix(b"{")?;
            before
                .trim_ascii_end()
                .ends_with(b",")
                .then_some(before.len())
        })
}

/// Whether there is only a comma between the end of an element and a guess.
fn is_next(text: &[u8], end: usize, guess: usize) -> bool {
    guess.saturating_sub(end) <= NEAR
        && text
            .get(end..guess)
            .is_some_and(|between| between.trim_ascii() == b",")
}

/// Reads the exchanges of the array that `scan` is in.
pub(super) fn read(scan: &mut Scan<'_>) -> Result<(), Stop> {
    let guesses = guesses(scan.text, scan.scanner.offset());
    read_from(scan, &guesses)
}

/// Like [`read`], with a thread for each guess. The pieces are adopted in order, and together they
/// form the whole array.
fn read_from(scan: &mut Scan<'_>, guesses: &[usize]) -> Result<(), Stop> {
    let text = scan.text;
    thread::scope(|scope| {
        let mut others: Vec<_> = (1..)
            .zip(guesses)
            .map(|(next, &start)| {
                let mut scanner = scan.scanner.clone();
                scanner.jump_to_value(start);
                let ends = guesses.part(next..);
                let worker = move || piece(Scan::amid(text, scanner), ends);
                (start, scope.spawn(worker))
            })
            .collect();
        let first = Scan::amid(text, scan.scanner.clone());
        let mut read = piece(first, guesses);
        loop {
            let arrived = match read {
                (piece, Ok(())) => {
                    let arrived = piece.arrived;
                    scan.adopt(piece);
                    arrived
                }
                (piece, Err(stop)) => {
                    scan.adopt(piece);
                    return Err(stop);
                }
            };
            let place = others.iter().position(|(start, _)| Some(*start) == arrived);
            let Some(place) = place else { return Ok(()) };
            let (_, worker) = others.swap_remove(place);
            read = match worker.join() {
                Ok(read) => read,
                Err(panic) => std::panic::resume_unwind(panic),
            };
        }
    })
}

/// Reads elements up to the first guess that it arrives at, or the end of the array. After an
/// error, the elements read so far tell which one is invalid.
fn piece<'t>(mut scan: Scan<'t>, guesses: &[usize]) -> (Piece<'t>, Result<(), Stop>) {
    let mut ahead = guesses.iter().copied().peekable();
    let mut drafts = Vec::new();
    let mut arrived = None;
    let mut read = || -> Result<(), Stop> {
        while !scan.closes() {
            drafts.push(scan.take(true)?);
            let end = scan.scanner.offset();
            while ahead.next_if(|guess| *guess < end).is_some() {}
            if let Some(guess) = ahead.next_if(|guess| is_next(scan.text, end, *guess)) {
                arrived = Some(guess);
                return Ok(());
            }
        }
        scan.scanner.next_token()?;
        Ok(())
    };
    let verdict = read();
    let piece = Piece {
        drafts,
        methods: scan.methods,
        scanner: scan.scanner,
        arrived,
    };
    (piece, verdict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewright_schemas::json::Span;

    /// Methods, spans of requests, where the scan ended, and whether it succeeded.
    type Outcome = (Vec<(Vec<u8>, Span)>, usize, bool);

    fn outcome(text: &[u8], guesses: &[usize]) -> Outcome {
        let mut scanner = Scanner::new(text);
        scanner.next_token().unwrap();
        let mut scan = Scan::amid(text, scanner);
        let whole = read_from(&mut scan, guesses).is_ok();
        let read = scan
            .parts
            .exchanges
            .requests()
            .map(|(method, request)| (scan.methods.name(method).to_vec(), request))
            .collect();
        let end = if whole { scan.scanner.offset() } else { 0 };
        (read, end, whole)
    }

    fn exchange(number: usize, inside: &str) -> String {
        let method = ["tools/call", "ping", "prompts/get", "tools/list"][number % 4];
        format!(
            r#"{{"request":{{"id":{number},"method":"{method}","params":{{"a":{inside}}}}},"response":{{"id":{number},"result":"x"}}}}"#
        )
    }

    /// Texts that may be mistaken for a start, and real starts.
    fn candidates(text: &[u8]) -> Vec<usize> {
        let mut found: Vec<_> = (0..text.len())
            .filter_map(|from| likely_start(text, from))
            .collect();
        found.dedup();
        found
    }

    #[test]
    fn guesses_change_nothing() {
        let traps = [
            "1",
            r#"[0,{"request":{"id":7,"method":"trap"},"response":{}},2]"#,
            r#"", {\"request\":1}""#,
            r#"[1 , { "request" : 2 }]"#,
        ];
        let elements: Vec<_> = (0..8).map(|at| exchange(at, traps[at % 4])).collect();
        let text = format!("[{}] tail", elements.join(" ,\n "));
        let text = text.as_bytes();
        let alone = outcome(text, &[]);
        assert_eq!((alone.0.len(), alone.2), (8, true));
        let places = candidates(text);
        assert!(places.len() > 8, "{places:?}");
        for one in 0..places.len() {
            for other in one + 1..places.len() {
                let guesses = [places[one], places[other]];
                assert_eq!(outcome(text, &guesses), alone, "{guesses:?}");
            }
        }
        assert_eq!(outcome(text, &places), alone);
    }

    #[test]
    fn a_mistake_is_met_where_it_stands() {
        let mut elements: Vec<_> = (0..6).map(|at| exchange(at, "1")).collect();
        elements[4] = r#"{"request":5,"response":{}}"#.to_owned();
        let text = format!("[{}]", elements.join(","));
        let alone = outcome(text.as_bytes(), &[]);
        assert_eq!((alone.0.len(), alone.2), (4, false));
        for guess in candidates(text.as_bytes()) {
            assert_eq!(outcome(text.as_bytes(), &[guess]), alone);
        }
    }

    #[test]
    fn a_start_stands_behind_a_comma() {
        let text = br#"[{"request":1}, {"a":"\"request\"","b":[{"request":2}]} ,  { "request":3}]"#;
        assert_eq!(likely_start(text, 0), Some(text.len() - 15));
    }
}
