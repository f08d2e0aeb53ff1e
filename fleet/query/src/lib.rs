//! Answers SQL queries over rows of tapes in Parquet files, wherever they are stored.
//!
//! The caller provides a [`Source`]: it lists the tapes, knows facts about each file before it is
//! opened, and reads bytes. The engine (`DataFusion`) sees tables whose files were selected by
//! these facts, and never lists or opens anything itself.

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
