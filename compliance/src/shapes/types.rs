//! Types that several tables use.

use super::{Kind, Member, may, need};
use crate::session::lists::LEVELS;

/// Who a client or a server is.
pub(super) const IMPLEMENTATION: Kind =
    Kind::Object(&[need("name", Kind::Text), need("version", Kind::Text)]);

/// The levels of log messages (RFC 5424).
pub(super) const LEVEL: Kind = Kind::Word(&LEVELS);

/// Who speaks in a prompt.
pub(super) const ROLE: Kind = Kind::Word(&["assistant", "user"]);

/// An object of which nothing is prescribed.
pub(super) const OBJECT: Kind = Kind::Object(&[]);

/// Strings.
pub(super) const TEXTS: Kind = Kind::List(&Kind::Text);

/// What asks for a page.
pub(super) const PAGE: &[Member] = &[may("cursor", Kind::Text)];

/// One message of a prompt or of a conversation with a model; its content is looked at
/// apart.
pub(super) const MESSAGE: Kind = Kind::Object(&[need("role", ROLE), need("content", Kind::Any)]);
