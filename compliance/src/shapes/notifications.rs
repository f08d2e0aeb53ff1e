//! The parameters of notifications.

use super::results::TASK;
use super::types::{LEVEL, TEXTS};
use super::{Kind, Member, may, need};
use crate::method::Method;
use crate::revision::Revisions;

/// The required members of a notification's parameters. INV-081 covers the contents of
/// `notifications/tasks/status`.
pub(crate) fn of(method: Method) -> &'static [Member] {
    match method {
        Method::Cancelled => CANCELLED,
        Method::ElicitationComplete => ELICITED,
        Method::LogMessage => LOG,
        Method::Progress => PROGRESS,
        Method::ResourcesUpdated => UPDATED,
        Method::SubscriptionsAcknowledged => ACKNOWLEDGED,
        Method::TasksStatus => TASK,
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

const ACKNOWLEDGED: &[Member] = &[need(
    "notifications",
    Kind::Object(&[
        may("toolsListChanged", Kind::Boolean),
        may("promptsListChanged", Kind::Boolean),
        may("resourcesListChanged", Kind::Boolean),
        may("resourceSubscriptions", TEXTS),
    ]),
)];
