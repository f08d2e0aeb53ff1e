//! An agent at work: a model that calls the tools of MCP servers, as a suite describes it.
//!
//! Everything here is pure. [`Run`] is the loop as a state machine: it says what to ask a
//! model or a server next, is told the answer, and keeps the trace. [`Catalogue`] is what the
//! model is offered, [`Faults`] are calls that are never answered, in virtual time, and
//! [`Recovery`] is how a run met them. [`Caps`] are the most that runs may cost. Who sends
//! and who waits is up to the program.

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
