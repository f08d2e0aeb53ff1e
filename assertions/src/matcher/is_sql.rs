//! `is-sql`: a string that some database would parse.

use serde_json::Value;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};

use super::{Judged, Matcher, no_string, nothing_there};
use crate::assertion::kind;
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct IsSql;

pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    if value.is_null() {
        return Ok(Box::new(IsSql));
    }
    Err(
        LoadError::here(format!("`is-sql` takes nothing, not {}", kind(value)))
            .help("write `is-sql: ~`"),
    )
}

impl Matcher for IsSql {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let text = match value {
            None => return nothing_there(None),
            Some(Json::String(text)) => text,
            Some(other) => return no_string("is-sql", other),
        };
        if text.len() > BYTES {
            return Judged::unknown(format!("`is-sql` reads at most {BYTES} bytes"));
        }
        let parsed = Parser::new(&GenericDialect {})
            .with_recursion_limit(DEPTH)
            .try_with_sql(text)
            .and_then(|mut parser| parser.parse_statements());
        match parsed {
            Ok(statements) if statements.is_empty() => {
                Judged::fails(Failure::note("is-sql", "no SQL statement found"))
            }
            Ok(_) => Judged::Holds,
            // It may be SQL, which is unknown.
            Err(ParserError::RecursionLimitExceeded) => Judged::unknown(format!(
                "`is-sql` reads at most {DEPTH} levels, and the text has more"
            )),
            Err(error) => Judged::fails(Failure::note("is-sql", error.to_string())),
        }
    }
}

/// The parser is recursive, and a peer chooses the text.
const DEPTH: usize = 50;
const BYTES: usize = 1 << 20;
