//! Errors of queries, in plain words.

use std::error::Error;

use datafusion::common::DataFusionError;

use crate::source::SourceError;

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// It is not SQL.
    #[error("invalid SQL: {0}")]
    Sql(String),
    /// It refers to something that does not exist.
    #[error("invalid query: {0}")]
    Query(String),
    /// It would change something.
    #[error("only queries are answered, and {0} is none")]
    NotAQuery(String),
    /// It needs more memory than allowed.
    #[error("the query needs more memory than it may have; narrow it, or give it more: {0}")]
    Memory(String),
    /// Its data could not be read.
    #[error(transparent)]
    Source(SourceError),
    /// Something else went wrong.
    #[error("the query failed: {0}")]
    Failed(String),
}

/// The error in the form that the engine passes on.
pub(crate) fn engine(error: SourceError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl From<DataFusionError> for QueryError {
    fn from(error: DataFusionError) -> Self {
        if let Some(told) = of_source(&error) {
            return Self::Source(SourceError(told.into()));
        }
        let root = error.find_root();
        let text = first(&root.message());
        if let Some((_, plain)) = PLAIN.iter().find(|(words, _)| text.contains(words)) {
            return Self::Query((*plain).to_owned());
        }
        match root {
            DataFusionError::SQL(..) => Self::Sql(parser(&text)),
            DataFusionError::Plan(_)
            | DataFusionError::SchemaError(..)
            | DataFusionError::NotImplemented(_)
            | DataFusionError::Configuration(_)
            | DataFusionError::Diagnostic(..) => Self::Query(text),
            DataFusionError::ResourcesExhausted(_) => Self::Memory(text),
            _ => Self::Failed(text),
        }
    }
}

/// Messages of the engine, and what they mean.
const PLAIN: [(&str, &str); 2] = [
    (
        "supports a single SQL statement",
        "one query is answered at a time",
    ),
    ("No SQL statements were provided", "it is empty"),
];

/// The message of the source, if the error came from it.
fn of_source(error: &DataFusionError) -> Option<String> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(one) = next {
        if let Some(told) = one.downcast_ref::<SourceError>() {
            return Some(told.to_string());
        }
        next = one.source();
    }
    None
}

/// The text without details for developers.
fn first(text: &str) -> String {
    let text = text.split(DataFusionError::BACK_TRACE_SEP).next();
    text.unwrap_or_default().trim().replace('\n', " ")
}

/// The message without the parser's wrapping: `ParserError("…")`.
fn parser(text: &str) -> String {
    let inner = text
        .split_once("(\"")
        .and_then(|(_, rest)| rest.strip_suffix("\")"));
    inner.unwrap_or(text).replace("\\\"", "\"")
}
