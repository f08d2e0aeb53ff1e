//! The commands from a user's point of view: their output, messages and exit status.

mod captures;
mod diff;
#[cfg(unix)]
pub(crate) mod examples;
mod export;
mod folders;
mod foreign;
pub(crate) mod golden;
mod helps;
mod inspect;
mod inspect_http;
mod language;
mod mistakes;
mod options;
mod page;
#[cfg(unix)]
mod progress;
mod record;
mod rows;
pub(crate) mod scrub;
mod scrub_http;
mod show;
mod validate;
