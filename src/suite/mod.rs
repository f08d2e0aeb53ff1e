//! Running a suite: what it asks, of whom, and how it came out.
//!
//! [`plan`] compiles a suite into cases. [`captured`] judges them by a recording, [`live`]
//! by asking servers; [`judging`] asks models what they think of an answer. Both give [`result::Results`], and the reports know nothing else.

pub(crate) mod calibration;
pub(crate) mod captured;
mod judged;
pub(crate) mod judging;
pub(crate) mod live;
pub(crate) mod models;
pub(crate) mod plan;
mod program;
pub(crate) mod result;
pub(crate) mod select;
mod transform;
pub(crate) mod world;
pub(crate) mod write;
