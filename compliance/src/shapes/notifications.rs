//! The parameters of notifications.

use super::types::{LEVEL, OBJECT};
use super::{Kind, Member, may, need};
use crate::method::Method;
use crate::revision::Revisions;

/// What the parameters of a notification must have. Those of `notifications/tasks/status`
/// are the subject of INV-081.
pub(crate) fn of(method: Method) -> &'static [Member] {
    match method {
        Method::Cancelled => CANCELLED,
        Method::ElicitationComplete => ELICITED,
        Method::LogMessage => LOG,
        Method::Progress => PROGRESS,
        Method::ResourcesUpdated => UPDATED,
        Method::SubscriptionsAcknowledged => ACKNOWLEDGED,
        _ => &[],
    }
}

const CANCELLED: &[Member] = &[need("requestId", Kind::Id), may("reason", Kind::Text)];

const PROGRESS: &[Member] = &[
    need("progressToken", Kind::Id),
    need("progress", Kind::Number),
    may("total", Kind::Number),
    may("message", Kind::Text).only(Revisions::FROM_R2),
];

const LOG: &[Member] = &[
    need("level", LEVEL),
    need("data", Kind::Any),
    may("logger", Kind::Text),
];

const UPDATED: &[Member] = &[need("uri", Kind::Text)];

const ELICITED: &[Member] = &[need("elicitationId", Kind::Text)];

const ACKNOWLEDGED: &[Member] = &[need("notifications", OBJECT)];
