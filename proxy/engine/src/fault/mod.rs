//! Faults: deliberate deviations in a conversation, and the messages that they act on.
//!
//! A [`Kind`] is one kind of deviation; the table of all kinds is [`kinds::ALL`], the source of
//! help, documents and tests. A [`Fault`] is a kind with its parameters and a [`Selector`];
//! [`Fault::parse`] parses one from the words `hang tool=search nth=3`. A [`FaultSet`] holds the
//! active faults and their counts, and chooses the fault for each message; it may change while
//! messages flow. A [`FaultPolicy`] connects it with a lane.
//!
//! # What a fault acts on
//!
//! The selector matches requests and notifications. A fault on a request acts on its answer, or,
//! for kinds of the sending side and with `on=request`, on the request itself. The true answer is
//! always requested and recorded, unless the request is withheld from the server.
//!
//! # Guarantees for every fault
//!
//! * Messages that it holds are forwarded when the fault is removed or changed.
//! * Messages without a fault keep their relative order.
//! * The same seed and the same traffic give the same faults.
//! * While no fault is active, no message is examined; the cost is one relaxed load per read.

mod act;
mod carried;
mod carry;
mod change_listener;
mod contradiction;
mod conversation;
mod display;
mod explain;
mod fault_set;
mod give;
pub mod kinds;
mod memory;
mod methods;
mod pointers;
mod policy;
mod random;
mod reach;
mod rejected;
mod selector;
mod spec;
mod values;
mod words;

pub use self::act::{Act, Call, CutAt, Move, Until};
pub use self::carried::Carried;
pub use self::carry::{Chosen, FaultMatch};
pub use self::explain::page;
pub use self::fault_set::{Entry, FaultSet, Hit, NoTicket};
pub use self::kinds::{ActsOn, FaultTarget, Kind, Legality, Parameter, TransportSupport, Unit};
pub use self::memory::Memory;
pub use self::policy::FaultPolicy;
pub use self::random::Random;
pub use self::rejected::Rejected;
pub use self::selector::{Selector, Subject};
pub use self::spec::{Fault, SELECTING, SpecError};
pub use self::values::{ValueError, Values};
pub use crate::outbox::after;
