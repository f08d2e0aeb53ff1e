//! The commands as their users meet them: what they write, what they say, how they end.

mod captures;
mod export;
mod golden;
mod inspect;
mod record;
mod scrub;
