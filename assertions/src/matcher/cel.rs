//! `cel`: an expression of the Common Expression Language over the variable `value`.
//!
//! The language only has loops over collections. The number of iterations of nested loops is
//! estimated first, which needs no clock and has the same result on every machine.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::{Context, Program, Value as CelValue};
use serde_json::Value;

use super::{Judged, Matcher, string_argument};
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

struct Cel {
    source: String,
    program: Program,
    loops: u32,
}

/// The longest expression, in bytes.
const SOURCE_BYTES: usize = 8 << 10;
/// The maximum number of iterations of loops, and the maximum size of a value.
const STEPS: u64 = 4_000_000;
const VALUE_NODES: u64 = 1_000_000;

pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let source = string_argument(value, "cel")?;
    if source.trim().is_empty() {
        return Err(LoadError::here("the expression is empty")
            .help("write one that is true or false, as in `size(value) > 0`"));
    }
    if source.len() > SOURCE_BYTES {
        return Err(LoadError::here(format!(
            "the expression is longer than {SOURCE_BYTES} bytes"
        )));
    }
    let parsed = catch_unwind(|| Program::compile(&source))
        .map_err(|_| LoadError::here(format!("`{source}` cannot be parsed as CEL")))?;
    let program = parsed.map_err(|errors| {
        let text = errors.to_string();
        let first = text.lines().next().unwrap_or_default();
        LoadError::here(format!("invalid CEL `{source}`: {first}"))
    })?;
    if let Some(name) = unknown(program.expression(), &mut vec!["value".to_owned()]) {
        return Err(
            LoadError::here(format!("`{source}` has the unknown variable `{name}`"))
                .help("the value at the target is the variable `value`"),
        );
    }
    let loops = loops(program.expression());
    Ok(Box::new(Cel {
        source,
        program,
        loops,
    }))
}

impl Matcher for Cel {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let value = value.unwrap_or(&Json::Null);
        let (nodes, widest) = measure(value);
        let width = widest.max(self.source.len() as u64);
        let steps = width
            .checked_pow(self.loops)
            .filter(|steps| *steps <= STEPS);
        if nodes > VALUE_NODES || self.loops > 0 && steps.is_none() {
            return Judged::unknown(
                "`cel` would take too long over a value of this size with loops this deep",
            );
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut context = Context::default();
            context.add_variable_from_value("value", converted(value));
            self.program.execute(&context)
        }));
        match outcome {
            Ok(Ok(CelValue::Bool(holds))) => Judged::when(holds, || Failure {
                expected: Some(self.source.as_str().into()),
                note: Some("the expression is false".to_owned()),
                ..Failure::default()
            }),
            Ok(Ok(other)) => Judged::unknown(format!(
                "`{}` is of type {}, and a predicate is true or false",
                self.source,
                other.type_of()
            )),
            Ok(Err(error)) => Judged::unknown(format!("`{}`: {error}", self.source)),
            Err(_) => Judged::unknown(format!("`{}` cannot be evaluated", self.source)),
        }
    }
}

impl fmt::Debug for Cel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Cel({})", self.source)
    }
}

fn converted(value: &Json) -> CelValue {
    match value {
        Json::Null => CelValue::Null,
        Json::Bool(value) => CelValue::Bool(*value),
        Json::Number(text) => {
            if let Ok(whole) = text.parse::<i64>() {
                CelValue::Int(whole)
            } else if let Ok(whole) = text.parse::<u64>() {
                CelValue::UInt(whole)
            } else {
                CelValue::Float(text.parse().unwrap_or(f64::NAN))
            }
        }
        Json::String(text) => CelValue::from(text.as_str()),
        Json::Array(elements) => CelValue::from(elements.iter().map(converted).collect::<Vec<_>>()),
        Json::Object(members) => CelValue::from(
            members
                .iter()
                .map(|(name, value)| (name.clone(), converted(value)))
                .collect::<HashMap<String, CelValue>>(),
        ),
    }
}

/// The number of values, and the number of elements of the largest collection.
fn measure(value: &Json) -> (u64, u64) {
    let each = |children: &mut dyn Iterator<Item = &Json>| {
        let (mut nodes, mut widest, mut count) = (1, 0, 0);
        for child in children {
            let (below, wide) = measure(child);
            nodes += below;
            count += 1;
            widest = wide.max(widest);
        }
        (nodes, widest.max(count))
    };
    match value {
        Json::Array(elements) => each(&mut elements.iter()),
        Json::Object(members) => each(&mut members.values()),
        _ => (1, 0),
    }
}

/// The maximum nesting depth of loops in an expression.
fn loops(expression: &IdedExpr) -> u32 {
    let deepest = |all: &[&IdedExpr]| all.iter().map(|one| loops(one)).max().unwrap_or(0);
    match &expression.expr {
        Expr::Call(call) => {
            let target = call.target.iter().map(|target| loops(target)).max();
            let arguments = call.args.iter().map(loops).max();
            target.max(arguments).unwrap_or(0)
        }
        Expr::Comprehension(one) => {
            // The result of a loop may be the range of another: the two count as nested.
            let range = loops(&one.iter_range);
            let body = deepest(&[&one.accu_init, &one.loop_cond, &one.loop_step, &one.result]);
            1 + range.max(body)
        }
        Expr::List(list) => list.elements.iter().map(loops).max().unwrap_or(0),
        Expr::Select(select) => loops(&select.operand),
        Expr::Map(map) => map
            .entries
            .iter()
            .map(|entry| entry_loops(&entry.expr))
            .max()
            .unwrap_or(0),
        Expr::Struct(one) => one
            .entries
            .iter()
            .map(|entry| entry_loops(&entry.expr))
            .max()
            .unwrap_or(0),
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => 0,
    }
}

/// The first variable in an expression that is not one of these, nor of a loop, nor a type.
fn unknown(expression: &IdedExpr, known: &mut Vec<String>) -> Option<String> {
    match &expression.expr {
        Expr::Call(call) => {
            let mut all = call.target.as_deref().into_iter().chain(&call.args);
            all.find_map(|one| unknown(one, known))
        }
        Expr::Comprehension(one) => {
            let range = unknown(&one.iter_range, known).or_else(|| unknown(&one.accu_init, known));
            let count = known.len();
            known.extend([one.iter_var.clone(), one.accu_var.clone()]);
            known.extend(one.iter_var2.clone());
            let body = [&one.loop_cond, &one.loop_step, &one.result];
            let found = range.or_else(|| body.into_iter().find_map(|one| unknown(one, known)));
            known.truncate(count);
            found
        }
        Expr::List(list) => list.elements.iter().find_map(|one| unknown(one, known)),
        Expr::Select(select) => unknown(&select.operand, known),
        Expr::Map(map) => map
            .entries
            .iter()
            .find_map(|one| of_entry(&one.expr, known)),
        Expr::Struct(one) => one
            .entries
            .iter()
            .find_map(|one| of_entry(&one.expr, known)),
        Expr::Ident(name) => {
            (!known.contains(name) && !TYPES.contains(&name.as_str())).then(|| name.clone())
        }
        Expr::Literal(_) | Expr::Unspecified => None,
    }
}

fn of_entry(entry: &EntryExpr, known: &mut Vec<String>) -> Option<String> {
    match entry {
        EntryExpr::MapEntry(entry) => {
            unknown(&entry.key, known).or_else(|| unknown(&entry.value, known))
        }
        EntryExpr::StructField(field) => unknown(&field.value, known),
    }
}

/// Names of types, which are values in this language.
const TYPES: [&str; 11] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "optional",
    "string",
    "type",
    "uint",
];

fn entry_loops(entry: &EntryExpr) -> u32 {
    match entry {
        EntryExpr::MapEntry(entry) => loops(&entry.key).max(loops(&entry.value)),
        EntryExpr::StructField(field) => loops(&field.value),
    }
}
