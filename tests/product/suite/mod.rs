//! `tapewright run`: suites live, from cassettes, and over recorded sessions.

mod alike;
mod captured;
mod control;
mod failing;
mod http;
mod reports;
mod rows;
mod stage;
