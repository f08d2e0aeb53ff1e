//! Descriptors, signals and process groups.

pub mod guard;
pub(crate) mod pipe;
pub mod process;
pub(crate) mod processes;
pub mod signals;
