//! Answers SQL from rows of tapes that stand in files of Parquet, wherever those are.
//!
//! Whoever asks brings a [`Source`]: it tells which tapes there are, what is known of each file before it is opened, and reads bytes. The
//! engine (`DataFusion`) sees tables whose files were chosen by that, and never lists or opens anything by itself.

mod ask;
pub mod canned;
mod cell;
mod columns;
mod error;
mod filter;
mod known;
mod reader;
mod rows_table;
mod source;
mod table;
mod tapes_table;

pub use self::ask::{Answer, Limits, Parameter, Question, ask};
pub use self::cell::Cell;
pub use self::error::QueryError;
pub use self::source::{Counts, File, Named, Source, SourceError, Table, Tape};
