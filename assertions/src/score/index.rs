//! Which tests an exchange may answer, found without looking at all of them.

use std::collections::HashMap;

use super::Question;
use crate::json::Json;
use crate::test::Ask;

/// The numbers of tests by what they ask: server, method, and what is named.
#[derive(Debug, Default)]
pub(super) struct Index(HashMap<(String, String, String), Bucket>);

/// Tests that ask for one tool, prompt or resource, or one method.
#[derive(Debug, Default)]
struct Bucket {
    /// Whatever the arguments are.
    any: Vec<usize>,
    /// With these arguments, in canonical form.
    given: HashMap<Vec<u8>, Vec<usize>>,
}

impl Index {
    pub(super) fn new<W>(questions: &[Question<W>]) -> Self {
        let mut index = Self::default();
        for (number, question) in questions.iter().enumerate() {
            let (ask, test) = (question.ask(), &question.test);
            let subject = ask.subject().unwrap_or_default();
            let key = (
                test.server.clone(),
                ask.method().to_owned(),
                subject.to_owned(),
            );
            let bucket = index.0.entry(key).or_default();
            match ask {
                Ask::Tool {
                    arguments: Some(arguments),
                    ..
                }
                | Ask::Prompt {
                    arguments: Some(arguments),
                    ..
                } => {
                    let key = arguments.canonical();
                    bucket.given.entry(key).or_default().push(number);
                }
                _ => bucket.any.push(number),
            }
        }
        index
    }

    /// The numbers, in the order of the suite.
    pub(super) fn candidates(&self, server: &str, method: &str, params: &Json) -> Vec<usize> {
        let member = match method {
            "prompts/get" | "tools/call" => "name",
            "resources/read" => "uri",
            _ => "",
        };
        let subject = params.get(member).and_then(Json::as_str);
        let key = (
            server.to_owned(),
            method.to_owned(),
            subject.unwrap_or_default().to_owned(),
        );
        let Some(bucket) = self.0.get(&key) else {
            return Vec::new();
        };
        let mut numbers = bucket.any.clone();
        if !bucket.given.is_empty() {
            let none = || Json::object::<String>([]).canonical();
            let given = params.get("arguments").map_or_else(none, Json::canonical);
            numbers.extend(bucket.given.get(&given).into_iter().flatten());
        }
        numbers.sort_unstable();
        numbers
    }
}
