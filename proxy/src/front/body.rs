//! Reads the body of a request, within limits.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::check::Refusal;
use super::shared::{Front, unavailable};
use crate::http::decode::{Undecodable, decoded};
use crate::http::tap::Share;
use tapewright_schemas::event::InPlaceCause;

/// A body in memory, whose share of the budget is returned when it is dropped.
pub(crate) struct BufferedBody {
    share: Share,
    pub(crate) bytes: Bytes,
}

impl BufferedBody {
    /// The body decoded from the encodings in its head, of at most `most` bytes. Decoding takes
    /// processor time.
    pub(crate) fn decoded(mut self, head: &HeaderMap, most: usize) -> Result<Self, Refusal> {
        let (encoded, share) = (self.bytes.len(), &mut self.share);
        let has_room = |bytes: usize| share.resize(encoded + bytes);
        match decoded(head, &self.bytes, most, has_room) {
            Ok(None) => Ok(self),
            Ok(Some(bytes)) => {
                self.bytes = bytes;
                Ok(self)
            }
            Err(Undecodable::Broken) => Err(Refusal::bad(
                InPlaceCause::BodyEncoding,
                "the body does not match its content encoding, or is too large",
            )),
            Err(Undecodable::NoRoom) => Err(unavailable(
                InPlaceCause::NoRoom,
                "too many requests in progress",
            )),
            Err(Undecodable::TooLong) => {
                let why = format!("the decoded body is longer than {most} bytes");
                Err(too_long(why, most))
            }
            Err(Undecodable::Unknown) => {
                let why = "the body has a content encoding other than gzip, deflate, br and zstd";
                Err(Refusal::new(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    InPlaceCause::Uncodable,
                    why,
                ))
            }
        }
    }
}

fn too_long(why: String, most: usize) -> Refusal {
    let (status, cause) = (StatusCode::PAYLOAD_TOO_LARGE, InPlaceCause::BodyTooLong);
    Refusal::new(status, cause, why).about(&most)
}

impl Front {
    /// Reads a whole body.
    pub(crate) async fn read(&self, body: Incoming) -> Result<BufferedBody, Refusal> {
        self.read_at_most(body, self.settings.body_bytes).await
    }

    /// Reads a whole body of a limited length.
    pub(crate) async fn read_at_most(
        &self,
        mut body: Incoming,
        most: usize,
    ) -> Result<BufferedBody, Refusal> {
        let too_large = || {
            let why = format!("the body is longer than {most} bytes");
            too_long(why, most)
        };
        if body.size_hint().lower() > most as u64 {
            return Err(too_large());
        }
        let mut share = Share::new(Arc::clone(&self.budget));
        let mut all = BytesMut::new();
        loop {
            let frame = timeout(self.settings.body_time, body.frame()).await;
            let Ok(frame) = frame else {
                let why = "reading the body timed out";
                return Err(Refusal::new(
                    StatusCode::REQUEST_TIMEOUT,
                    InPlaceCause::BodySlow,
                    why,
                ));
            };
            let data = match frame {
                None => break,
                Some(Err(_)) => {
                    return Err(Refusal::bad(
                        InPlaceCause::BodyBrokeOff,
                        "the body broke off",
                    ));
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => data,
                    Err(_) => continue,
                },
            };
            if all.len() + data.len() > most {
                return Err(too_large());
            }
            if !share.resize(all.len() + data.len()) {
                return Err(unavailable(
                    InPlaceCause::NoRoom,
                    "too many requests in progress",
                ));
            }
            all.extend_from_slice(&data);
        }
        Ok(BufferedBody {
            share,
            bytes: all.freeze(),
        })
    }
}
