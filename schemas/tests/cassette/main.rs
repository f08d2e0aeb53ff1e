//! Projections of a tape: cassette, capture and report, and the way back.
#![cfg(test)] // so that clippy counts the helpers as tests

mod capture;
mod faults;
mod http;
mod law;
mod old;
mod read;
mod rules;
mod scrub;
mod spill;
mod summary;
mod support;
mod tape;
mod times;
mod wheel;
mod wire;
