//! Judging by models: the questions, the meaning of the answers, and the results.
//!
//! Everything here is pure. [`judge`] applies a [`Rubric`] to a candidate: it asks an [`Asker`] one
//! narrow [`Call`] at a time, and combines the answers into an [`Opinion`]. [`Jury`] does so with
//! several models. [`prompt`] writes the requests, in which the candidate is data; [`Verdict`] is
//! the content of an answer. [`Record`] stores calls and their answers, so that the same opinion
//! can be reproduced without a model. [`similarity`] compares embeddings, [`scorer`] has the
//! documents of programs that grade, [`calibration`] measures how well a judge agrees with people.
//! Sending and waiting is up to the program.

pub mod alpha;
mod ask;
pub mod calibration;
mod call;
mod judge;
mod jury;
mod metric;
mod named;
mod opinion;
pub mod prompt;
mod record;
mod rubric;
pub mod scorer;
pub mod similarity;
mod transcript;
mod verdict;

pub use call::{Asker, Call, Model, Reply, Subject};
pub use judge::{Candidate, Samples, judge};
pub use jury::{Juror, Jury};
pub use metric::Metric;
pub use named::RubricMatcher;
pub use opinion::{Finding, JurorOpinion, Opinion, Outcome, Step, Vote};
pub use record::{Answer, Key, Miss, Record, RecordError, Recorded};
pub use rubric::{Criterion, Form, Node, Rubric};
pub use transcript::{of_answer, of_trace, of_turn};
pub use verdict::{NoVerdict, Verdict};
