//! Faults: what can be done to a conversation on purpose, and to which messages.
//!
//! A [`Kind`] is one thing that can be done; the table of all of them is [`kinds::ALL`], from
//! which help, documents and tests are made. A [`Fault`] is a kind with its parameters and
//! a [`Selector`]; [`Fault::parse`] reads one from the words `hang tool=search nth=3`. A
//! [`FaultSet`] holds the faults in force, counts, and says which message meets which; it may
//! change while messages flow. A [`FaultPolicy`] is what a lane asks.
//!
//! # What a fault acts on
//!
//! The selector looks at requests and notifications. A fault on a request acts on its
//! answer, or, for kinds of the sending side and with `on=request`, on the request itself.
//! The true answer is always asked for and recorded, except where the request is kept from
//! the server.
//!
//! # What holds of every fault
//!
//! * What it holds back is passed on when the fault is taken away or changed.
//! * Messages that no fault touches keep their order among themselves.
//! * The same seed and the same traffic give the same faults.
//! * With no fault in force nothing is looked at: one relaxed load per read.

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
