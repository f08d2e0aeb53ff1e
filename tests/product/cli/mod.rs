//! The commands as their users meet them: what they write, what they say, how they end.

mod captures;
mod diff;
mod examples;
mod export;
pub(crate) mod golden;
mod inspect;
mod inspect_http;
mod page;
mod record;
mod rows;
mod scrub;
mod scrub_http;
mod show;
mod validate;
