//! A bucket for tests with the required subset of S3, which fails on request. Moto is the
//! independent implementation: `.ci/fleet`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The handling of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Answered.
    None,
    /// Answered that the store is busy.
    Busy,
    /// Refused, with S3's message, which contains the access key.
    Denied,
    /// The connection is closed before it is carried out.
    Dropped,
    /// Carried out, but the connection is closed without an answer.
    Unanswered,
    /// Carried out after a delay.
    Slow,
}

type Faults = Box<dyn Fn(u64) -> Fault + Send>;

/// How many objects a page of a list has.
const PAGE: usize = 3;

#[derive(Default)]
struct BucketState {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    uploads: Mutex<BTreeMap<String, BTreeMap<u64, Vec<u8>>>>,
    requests: AtomicU64,
    faults: Mutex<Option<Faults>>,
    /// Whether existing objects are overwritten.
    forgets: AtomicBool,
}

/// A bucket called `tapes` on this machine.
pub(crate) struct Bucket {
    held: Arc<BucketState>,
    port: u16,
}

impl Bucket {
    pub(crate) fn new() -> Self {
        let held: Arc<BucketState> = Arc::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::clone(&held);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let held = Arc::clone(&shared);
                thread::spawn(move || {
                    // A broken connection ends.
                    drop(serve(&held, stream));
                });
            }
        });
        Self { held, port }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sets the handling of each request by its number.
    pub(crate) fn fail(&self, faults: impl Fn(u64) -> Fault + Send + 'static) {
        *self.held.faults.lock().unwrap() = Some(Box::new(faults));
    }

    pub(crate) fn is_well(&self) {
        *self.held.faults.lock().unwrap() = None;
    }

    /// Overwrites existing objects from now on, like stores that ignore conditions.
    pub(crate) fn forget(&self) {
        self.held.forgets.store(true, Ordering::Relaxed);
    }

    pub(crate) fn requests(&self) -> u64 {
        self.held.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.held.objects.lock().unwrap().keys().cloned().collect()
    }
}

struct Request {
    method: String,
    key: String,
    query: BTreeMap<String, String>,
    is_create: bool,
    authorization: String,
    range: Option<(usize, usize)>,
    body: Vec<u8>,
}

struct Answer {
    status: u16,
    body: Vec<u8>,
    length: usize,
    /// The number of the part.
    part: Option<String>,
}

fn answer(status: u16, body: impl Into<Vec<u8>>) -> Answer {
    let body = body.into();
    let length = body.len();
    Answer {
        status,
        body,
        length,
        part: None,
    }
}

fn serve(held: &BucketState, stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(request) = read(&mut reader)? {
        let number = held.requests.fetch_add(1, Ordering::Relaxed);
        let fault = held
            .faults
            .lock()
            .unwrap()
            .as_ref()
            .map_or(Fault::None, |faults| faults(number));
        let told = match fault {
            Fault::Dropped => return Ok(()),
            Fault::Busy => answer(503, "<Error><Code>SlowDown</Code></Error>"),
            Fault::Denied => {
                let who = &request.authorization;
                answer(
                    403,
                    format!(
                        "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>{who}</AWSAccessKeyId></Error>"
                    ),
                )
            }
            Fault::Slow => {
                thread::sleep(Duration::from_millis(30));
                held.answer(&request)
            }
            Fault::None | Fault::Unanswered => held.answer(&request),
        };
        if fault == Fault::Unanswered {
            return Ok(());
        }
        let (status, length) = (told.status, told.length);
        let modified = "Thu, 26 Nov 2026 03:15:00 GMT";
        let part = told.part.map(|part| format!("Content-Range: {part}\r\n"));
        let part = part.unwrap_or_default();
        write!(
            stream,
            "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{part}ETag: \"e{number}\"\r\nLast-Modified: {modified}\r\n\r\n"
        )?;
        stream.write_all(&told.body)?;
    }
    Ok(())
}

fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ');
    let method = words.next().unwrap().to_owned();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let key = path
        .trim_start_matches("/tapes")
        .trim_start_matches('/')
        .to_owned();
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), value.replace("%2F", "/"))
    };
    let query = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(pair)
        .collect();
    let (mut length, mut is_create, mut authorization) = (0, false, String::new());
    let mut range = None;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "if-none-match" => is_create = value == "*",
            "range" => range = bounds(value),
            "authorization" => value.clone_into(&mut authorization),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request {
        method,
        key,
        query,
        is_create,
        authorization,
        range,
        body,
    }))
}

/// `bytes=FIRST-LAST`.
fn bounds(value: &str) -> Option<(usize, usize)> {
    let (first, last) = value.strip_prefix("bytes=")?.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

impl BucketState {
    fn answer(&self, request: &Request) -> Answer {
        let Request {
            method,
            key,
            query,
            body,
            ..
        } = request;
        let upload = query.get("uploadId");
        match (method.as_str(), upload) {
            ("POST", None) if query.contains_key("uploads") => self.begin(),
            ("PUT", Some(upload)) => {
                let mut uploads = self.uploads.lock().unwrap();
                let part = query["partNumber"].parse().unwrap();
                uploads.get_mut(upload).unwrap().insert(part, body.clone());
                answer(200, "")
            }
            ("POST", Some(upload)) => {
                let parts = self.uploads.lock().unwrap().remove(upload).unwrap();
                let whole = parts.into_values().flatten().collect();
                self.objects.lock().unwrap().insert(key.clone(), whole);
                answer(
                    200,
                    "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>",
                )
            }
            ("DELETE", Some(upload)) => {
                self.uploads.lock().unwrap().remove(upload);
                answer(204, "")
            }
            ("POST", None) => self.delete(body),
            ("PUT", None) => self.put(request),
            ("GET", None) if key.is_empty() => self.list(query),
            _ => self.get(request),
        }
    }

    fn begin(&self) -> Answer {
        let mut uploads = self.uploads.lock().unwrap();
        let id = format!("u{}", self.requests.load(Ordering::Relaxed));
        uploads.insert(id.clone(), BTreeMap::new());
        answer(
            200,
            format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            ),
        )
    }

    fn put(&self, request: &Request) -> Answer {
        let mut objects = self.objects.lock().unwrap();
        let is_kept = request.is_create && !self.forgets.load(Ordering::Relaxed);
        if is_kept && objects.contains_key(&request.key) {
            return answer(412, "<Error><Code>PreconditionFailed</Code></Error>");
        }
        objects.insert(request.key.clone(), request.body.clone());
        answer(200, "")
    }

    fn get(&self, request: &Request) -> Answer {
        let objects = self.objects.lock().unwrap();
        match objects.get(&request.key) {
            None => answer(404, "<Error><Code>NoSuchKey</Code></Error>"),
            Some(bytes) if request.method == "HEAD" => Answer {
                status: 200,
                body: Vec::new(),
                length: bytes.len(),
                part: None,
            },
            Some(bytes) => match request.range {
                None => answer(200, bytes.clone()),
                Some((first, _)) if first >= bytes.len() => answer(416, ""),
                Some((first, last)) => {
                    let last = last.min(bytes.len() - 1);
                    Answer {
                        part: Some(format!("bytes {first}-{last}/{}", bytes.len())),
                        ..answer(206, bytes[first..=last].to_vec())
                    }
                }
            },
        }
    }

    fn delete(&self, body: &[u8]) -> Answer {
        let body = String::from_utf8_lossy(body);
        let mut objects = self.objects.lock().unwrap();
        let mut told = String::from("<DeleteResult>");
        for part in body.split("<Key>").skip(1) {
            let key = part.split("</Key>").next().unwrap();
            objects.remove(key);
            write!(told, "<Deleted><Key>{key}</Key></Deleted>").unwrap();
        }
        answer(200, told + "</DeleteResult>")
    }

    fn list(&self, query: &BTreeMap<String, String>) -> Answer {
        let objects = self.objects.lock().unwrap();
        let prefix = query.get("prefix").map_or("", String::as_str);
        let after = query.get("continuation-token").map_or("", String::as_str);
        let mut found = objects
            .iter()
            .filter(|(key, _)| key.starts_with(prefix) && key.as_str() > after);
        let page: Vec<_> = found.by_ref().take(PAGE).collect();
        let mut told = String::from("<ListBucketResult>");
        for (key, bytes) in &page {
            let size = bytes.len();
            write!(told, "<Contents><Key>{key}</Key><LastModified>2026-11-26T03:15:00.000Z</LastModified><ETag>x</ETag><Size>{size}</Size></Contents>").unwrap();
        }
        if let (Some(_), Some((last, _))) = (found.next(), page.last()) {
            write!(
                told,
                "<NextContinuationToken>{last}</NextContinuationToken>"
            )
            .unwrap();
        }
        answer(200, told + "</ListBucketResult>")
    }
}
