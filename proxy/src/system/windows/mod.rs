//! Handles, the console and job objects.

mod ahead;
pub mod files;
pub(crate) mod folder;
pub(crate) mod growth;
pub mod guard;
mod owned;
mod parent;
pub(crate) mod pipe;
pub mod process;
pub(crate) mod processes;
mod program;
pub mod signals;
pub mod sockets;
pub mod standard_error;
pub mod terminal;
pub(crate) mod unnamed;
