//! `tapewright run`: suites live, from cassettes, and over recorded sessions.

mod agents;
mod alike;
mod captured;
mod control;
mod failing;
mod http;
mod judges;
mod judges_scorers;
mod lasting;
mod matrix;
mod model_baseline;
mod reach;
mod recorded;
mod refused;
mod reports;
mod rows;
mod runner;
mod silent;
mod stage;
mod watch;
mod written;
