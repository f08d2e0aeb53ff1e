//! Runs a suite.
//!
//! [`plan`] compiles a suite into cases. [`captured`] judges them by a recording, [`live`] by
//! asking servers; [`judging`] asks models for their judgement. Both return [`result::Results`],
//! the only input of reports.

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
