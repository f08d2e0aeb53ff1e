//! Answers requests of a page's browser.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderName;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tapewright_schemas::filter::LineKind;
use tokio::time::timeout;

use super::bodies::RowId;
use super::content::PageContent;
use super::guard::{Guard, RequestedThing};
use super::stream::news;
use super::switches::{NotSwitched, Switches};
use super::{Asset, Settings};
use crate::control::decoded;
use crate::http::body::Outbound;
use crate::http::listen::{Client, Handler};

/// Answers the browsers of a page.
#[derive(Clone)]
pub(super) struct Page {
    guard: Arc<Guard>,
    files: Arc<HashMap<String, File>>,
    policy: HeaderValue,
    knows: Arc<PageFacts>,
}

/// The contents of the page.
pub(super) struct PageFacts {
    pub(super) shown: Arc<PageContent>,
    head: Value,
    switches: Option<Switches>,
}

/// A file of the page, and a tag for its content.
struct File {
    asset: Asset,
    tag: String,
}

/// The maximum length of a request, in bytes.
const LIMIT_BYTES: usize = 4 * 1024;
/// The timeout for a whole request: all are short.
const BODY_TIME: Duration = Duration::from_secs(10);
/// The maximum size of rows in one answer, in bytes.
const ROWS_BYTES: usize = 1 << 20;

impl Handler for Page {
    async fn handle(&self, _client: Client, request: Request<Incoming>) -> Response<Outbound> {
        let (parts, body) = request.into_parts();
        let mut response = self.answered(&parts, body).await;
        self.harden(response.headers_mut());
        response
    }
}

impl Page {
    pub(super) fn new(shown: Arc<PageContent>, guard: Guard, settings: Settings) -> Self {
        let switches = settings.fault_set.map(Switches::new);
        let file = |asset: Asset| {
            let tag = tag(asset.text.as_bytes());
            (asset.path.clone(), File { asset, tag })
        };
        Self {
            guard: Arc::new(guard),
            files: Arc::new(settings.assets.into_iter().map(file).collect()),
            // The policy is visible ASCII.
            policy: HeaderValue::try_from(settings.policy)
                .unwrap_or(HeaderValue::from_static("default-src 'none'")),
            knows: Arc::new(PageFacts::new(shown, settings.head, switches)),
        }
    }

    async fn answered(&self, parts: &Parts, body: Incoming) -> Response<Outbound> {
        let path = parts.uri.path();
        let wants = match (path.starts_with("/api/"), &parts.method) {
            (false, _) => RequestedThing::File,
            (true, &Method::GET) => RequestedThing::Knowledge,
            (true, _) => RequestedThing::Change,
        };
        if let Err(refused) = self.guard.check(wants, &parts.uri, &parts.headers) {
            return problem(refused.status(), &refused.to_string());
        }
        match wants {
            RequestedThing::File => self.file(parts),
            RequestedThing::Knowledge => self.tell(parts).await,
            RequestedThing::Change => self.change(parts, body).await,
        }
    }

    fn file(&self, parts: &Parts) -> Response<Outbound> {
        if parts.method != Method::GET {
            return problem(
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET is allowed for files",
            );
        }
        let Some(file) = self.files.get(parts.uri.path()) else {
            return problem(StatusCode::NOT_FOUND, "no such file");
        };
        let known = parts.headers.get(header::IF_NONE_MATCH);
        let is_known = known.is_some_and(|known| known == file.tag.as_str());
        let mut response = if is_known {
            let mut response = Response::new(Outbound::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        } else {
            Response::new(Outbound::whole(file.asset.text.clone().into()))
        };
        let fields = response.headers_mut();
        fields.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(file.asset.kind),
        );
        if let Ok(tag) = HeaderValue::try_from(&*file.tag) {
            fields.insert(header::ETAG, tag);
        }
        // Always revalidated: another run may use the port.
        fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }

    async fn tell(&self, parts: &Parts) -> Response<Outbound> {
        let knows = &self.knows;
        knows.shown.asked();
        let path = parts.uri.path();
        match path {
            "/api/head" => whole(StatusCode::OK, knows.head.to_string()),
            "/api/rows" => self.rows(query(parts, "from").as_deref()),
            "/api/state" => whole(StatusCode::OK, knows.state().to_string()),
            "/api/events" => self.events(parts),
            "/api/faults" => whole(
                StatusCode::OK,
                json!({"faults": knows.faults()}).to_string(),
            ),
            _ => match path.strip_prefix("/api/exchange/") {
                Some(rest) => self.exchange(parts, rest).await,
                None => problem(
                    StatusCode::NOT_FOUND,
                    "known paths are /api/head, /api/rows, /api/state, /api/events, /api/exchange/PART/NUMBER and /api/faults/NAME",
                ),
            },
        }
    }

    fn rows(&self, from: Option<&str>) -> Response<Outbound> {
        let Ok(from) = from.unwrap_or("0").parse() else {
            return problem(
                StatusCode::BAD_REQUEST,
                "`from` must be a row number from `next`",
            );
        };
        match self.knows.shown.rows.read(from, ROWS_BYTES) {
            Ok(batch) => {
                let (rows, next, missed) = (batch.text, batch.next, batch.missed);
                let text = format!("{{\"rows\":[{rows}],\"next\":{next},\"missed\":{missed}}}");
                whole(StatusCode::OK, text)
            }
            Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "cannot read the rows"),
        }
    }

    fn events(&self, parts: &Parts) -> Response<Outbound> {
        let last = parts.headers.get("last-event-id");
        let last = last.map(|last| last.to_str().unwrap_or_default().parse());
        let Ok(from) = last.unwrap_or(Ok(0)) else {
            return problem(StatusCode::BAD_REQUEST, "invalid `Last-Event-ID`");
        };
        news(Arc::clone(&self.knows), from).answer()
    }

    /// The messages of `PART/NUMBER`; the part is empty or `-` if there is only one tape.
    async fn exchange(&self, parts: &Parts, rest: &str) -> Response<Outbound> {
        if !self.knows.shown.bodies {
            let why = "messages are hidden; start the recorder with --page-bodies to show them";
            return problem(StatusCode::FORBIDDEN, why);
        }
        let (part, number) = rest.rsplit_once('/').unwrap_or(("", rest));
        let kind = query(parts, "kind")
            .map_or(Some(LineKind::Exchange), |kind| LineKind::from_name(&kind));
        let (Ok(seq), Some(kind)) = (number.parse(), kind) else {
            return problem(StatusCode::BAD_REQUEST, "missing or invalid exchange");
        };
        let meant = RowId {
            seq,
            kind,
            id: query(parts, "id"),
        };
        let part = if part == "-" {
            String::new()
        } else {
            decoded(part)
        };
        let shown = Arc::clone(&self.knows.shown);
        // It may be far into the tape, so other requests continue meanwhile.
        let read = tokio::task::spawn_blocking(move || shown.said(&part, &meant)).await;
        match read {
            Ok(Ok(Some(said))) => whole(StatusCode::OK, said.to_string()),
            Ok(Ok(None)) => problem(
                StatusCode::NOT_FOUND,
                "not in the recording, or no longer kept",
            ),
            Ok(Err(_)) | Err(_) => problem(
                StatusCode::INTERNAL_SERVER_ERROR,
                "cannot read the recording",
            ),
        }
    }

    async fn change(&self, parts: &Parts, body: Incoming) -> Response<Outbound> {
        if (&parts.method, parts.uri.path()) == (&Method::POST, "/api/read-all") {
            self.knows.shown.read_all();
            return whole(StatusCode::ACCEPTED, "{}".to_owned());
        }
        let Some(name) = parts.uri.path().strip_prefix("/api/faults/").map(decoded) else {
            return problem(
                StatusCode::NOT_FOUND,
                "use PUT /api/faults/NAME to change a fault, POST /api/read-all to read everything",
            );
        };
        if parts.method != Method::PUT {
            return problem(StatusCode::METHOD_NOT_ALLOWED, "use PUT to switch a fault");
        }
        let Some(switches) = &self.knows.switches else {
            return problem(
                StatusCode::NOT_FOUND,
                "a finished recording has no faults to switch",
            );
        };
        let read = timeout(BODY_TIME, Limited::new(body, LIMIT_BYTES).collect());
        let Ok(Ok(body)) = read.await else {
            return problem(
                StatusCode::BAD_REQUEST,
                "the request is too long, or took too long",
            );
        };
        let told: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
        let Some(enabled) = told.get("enabled").and_then(Value::as_bool) else {
            return problem(
                StatusCode::BAD_REQUEST,
                "the body must be {\"enabled\": true} or {\"enabled\": false}",
            );
        };
        match switches.set(&name, enabled) {
            Ok(()) => whole(
                StatusCode::OK,
                json!({"name": name, "enabled": enabled}).to_string(),
            ),
            Err(error @ NotSwitched::Unknown) => problem(StatusCode::NOT_FOUND, &error.to_string()),
            Err(error) => problem(StatusCode::CONFLICT, &error.to_string()),
        }
    }

    /// Adds the fields of every answer.
    fn harden(&self, fields: &mut http::HeaderMap) {
        fields.insert(header::CONTENT_SECURITY_POLICY, self.policy.clone());
        fields
            .entry(header::CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
        for (name, value) in HARDENING {
            fields.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
    }
}

/// Fields of every answer in addition to the policy.
const HARDENING: [(&str, &str); 5] = [
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
];

impl PageFacts {
    pub(super) fn new(
        shown: Arc<PageContent>,
        mut head: Value,
        switches: Option<Switches>,
    ) -> Self {
        if let Some(members) = head.as_object_mut() {
            members.insert("bodies".to_owned(), shown.bodies.into());
            members.insert("faults".to_owned(), switches.is_some().into());
        }
        if let Some(switches) = &switches {
            let shown = Arc::downgrade(&shown);
            switches.tell_of_changes(move || {
                if let Some(shown) = shown.upgrade() {
                    shown.changed();
                }
            });
        }
        Self {
            shown,
            head,
            switches,
        }
    }

    pub(super) fn state(&self) -> Value {
        let mut told = self.shown.told();
        told.insert("faults".to_owned(), self.faults());
        told.into()
    }

    fn faults(&self) -> Value {
        self.switches
            .as_ref()
            .map_or_else(|| json!([]), Switches::told)
    }
}

/// A member of the query, percent-decoded.
fn query(parts: &Parts, name: &str) -> Option<String> {
    let all = parts.uri.query()?.split('&');
    let mut pairs = all.filter_map(|pair| pair.split_once('='));
    pairs
        .find(|(one, _)| *one == name)
        .map(|(_, value)| decoded(value))
}

/// A tag for the content of a file: FNV-1a, which is not used for security.
fn tag(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("\"{hash:016x}\"")
}

fn problem(status: StatusCode, why: &str) -> Response<Outbound> {
    whole(status, json!({ "error": why }).to_string())
}

fn whole(status: StatusCode, text: String) -> Response<Outbound> {
    let mut response = Response::new(Outbound::whole(Bytes::from(text)));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
