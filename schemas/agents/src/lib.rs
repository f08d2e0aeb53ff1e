//! An agent at work: a model that calls the tools of MCP servers, as a suite describes it.
//!
//! Everything here is pure. [`Run`] is the loop as a state machine: it returns the next request for
//! a model or a server, takes the answer, and keeps the trace. [`Catalogue`] contains the tools
//! offered to the model, [`Faults`] are calls that are never answered, in virtual time, and
//! [`Recovery`] is how a run handled them. [`Caps`] limit the cost of runs. Sending and waiting is
//! up to the program.

mod catalogue;
mod digest;
mod faults;
mod limits;
mod money;
mod recovery;
mod run;
mod stub;
mod text;

pub use catalogue::{Catalogue, Offered};
pub use faults::{Fault, FaultKind, Faults, WireFault};
pub use limits::{Limits, Trip};
pub use money::{Caps, NoPrice, Spent};
pub use recovery::{Gate, Recovery};
pub use run::{Call, Finished, Run, Step, Task, User};
pub use stub::Stub;
