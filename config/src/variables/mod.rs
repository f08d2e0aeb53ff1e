//! Variables: the sources of their values, and their use in a suite.

mod dotenv;
mod fill;
mod reference;
mod scope;

pub use scope::Environment;

pub(crate) use dotenv::parse as parse_dotenv;
pub(crate) use fill::{Filler, fill};
pub(crate) use scope::{Scope, add_credentials};
