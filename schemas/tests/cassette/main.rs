//! Projections of a tape: cassette, capture and report, and the way back.

mod capture;
mod law;
mod read;
mod rules;
mod scrub;
mod spill;
mod summary;
mod support;
mod tape;
mod wire;
