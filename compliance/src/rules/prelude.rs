//! Imports that nearly every rule needs.

pub(super) use tapewright_schemas::envelope::{Kind, RequestId};
pub(super) use tapewright_schemas::event::{Carrier, Direction};

pub(super) use crate::carrier::Carriers;
pub(super) use crate::checker::{Case, Closing, Fault, Out};
pub(super) use crate::code::Code;
pub(super) use crate::finding::{Doubt, Side};
pub(super) use crate::invariant::{
    Basis, Check, Directions, Invariant, Levels, Methods, Responsible,
};
pub(super) use crate::method::Method;
pub(super) use crate::plain::Plain;
pub(super) use crate::revision::{R1, R2, R4, R5, Revisions};
pub(super) use crate::session::Answer;
pub(super) use crate::value::{Value, quoted};
