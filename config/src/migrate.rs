//! The parts of a suite that depend on the code of a missing resource, with their positions in the
//! file.
//!
//! The text is never serialized again as a whole: a change replaces the bytes of a [`Span`].

use crate::source::Span;
use crate::yaml::{self, Kind, Node};
use tapewright_schemas::order::Order as _;

/// The parts of a suite that change with a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependent {
    /// Where the code is only expected in an answer to `resources/read`.
    pub codes: Vec<Span>,
    /// Where it is expected in such an answer and, by an anchor, in others: they must be separated
    /// by hand.
    pub shared: Vec<Span>,
    /// Where one of the methods is used, and which.
    pub methods: Vec<(Span, &'static str)>,
}

/// The maximum depth of a document that is examined.
const DEPTH: usize = 128;

/// Finds where a suite expects `code` in an answer to `resources/read`, and where it uses one of
/// `methods`.
///
/// `None` if the text is not a single YAML document.
#[must_use]
pub fn dependent(text: &str, code: i64, methods: &[&'static str]) -> Option<Dependent> {
    let (root, problems) = yaml::parse(text);
    let root = root.filter(|_| problems.is_empty())?;
    let mut search = Search {
        text,
        code,
        methods,
        inside: Vec::new(),
        outside: Vec::new(),
        found: Dependent::default(),
    };
    search.walk(&root, false, DEPTH);
    Some(search.finish())
}

struct Search<'t> {
    text: &'t str,
    code: i64,
    methods: &'t [&'static str],
    inside: Vec<Span>,
    outside: Vec<Span>,
    found: Dependent,
}

impl Search<'_> {
    /// Examines a node; `reads` if it is about answers to `resources/read`.
    fn walk(&mut self, node: &Node, reads: bool, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        match &node.kind {
            Kind::Array(items) => {
                for item in items {
                    self.walk(item, reads, depth);
                }
            }
            Kind::Object(members) => {
                let reads = reads || reads_a_resource(node);
                for member in members {
                    match member.key.as_str() {
                        "resources" if is_tests(&member.value) => {
                            self.walk(&member.value, true, depth);
                        }
                        "expect" | "assertions" if reads => self.expectation(&member.value, depth),
                        _ => self.walk(&member.value, reads, depth),
                    }
                }
            }
            Kind::Text(text) => {
                let known = self.methods.iter().find(|known| **known == text.value);
                if let Some(known) = known {
                    self.found.methods.push((node.span, known));
                }
            }
            Kind::Number(_) => self.number(node, false),
            Kind::Null | Kind::Bool(_) => {}
        }
    }

    /// The expectation about an answer to `resources/read`: assertions with targets, or `error:
    /// {code: …}`.
    fn expectation(&mut self, node: &Node, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        match &node.kind {
            Kind::Array(items) => {
                for item in items {
                    self.expectation(item, depth);
                }
            }
            Kind::Object(members) => {
                let target = node
                    .member("target")
                    .and_then(|member| text_of(&member.value));
                let of_code = target.is_some_and(|target| target.ends_with("error.code"));
                for member in members {
                    match member.key.as_str() {
                        "matcher" if of_code => self.numbers(&member.value, depth),
                        "error" | "matcher" | "exact" | "subset" => {
                            self.codes(&member.value, depth);
                        }
                        "assertions" | "result" => self.expectation(&member.value, depth),
                        _ => self.walk(&member.value, false, depth),
                    }
                }
            }
            _ => self.walk(node, false, depth),
        }
    }

    /// Every member `code` in an expected error.
    fn codes(&mut self, node: &Node, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        match &node.kind {
            Kind::Object(members) => {
                for member in members {
                    if member.key == "code" {
                        self.numbers(&member.value, depth);
                    } else {
                        self.codes(&member.value, depth);
                    }
                }
            }
            Kind::Array(items) => {
                for item in items {
                    self.codes(item, depth);
                }
            }
            _ => self.walk(node, false, depth),
        }
    }

    /// Every number in the expectation about an error's code.
    fn numbers(&mut self, node: &Node, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        match &node.kind {
            Kind::Object(members) => members
                .iter()
                .for_each(|one| self.numbers(&one.value, depth)),
            Kind::Array(items) => items.iter().for_each(|one| self.numbers(one, depth)),
            Kind::Number(_) => self.number(node, true),
            _ => {}
        }
    }

    fn number(&mut self, node: &Node, inside: bool) {
        let Kind::Number(number) = &node.kind else {
            return;
        };
        let span = node.span;
        let written = self.text.get(span.start as usize..span.end as usize);
        // A number in another spelling, or from an alias, has no text of its own here.
        let is_it =
            number.as_i64() == Some(self.code) && written == Some(self.code.to_string().as_str());
        if is_it && inside {
            self.inside.push(span);
        } else if is_it {
            self.outside.push(span);
        }
    }

    fn finish(mut self) -> Dependent {
        self.inside.order_by_key(|span| span.start);
        self.inside.dedup();
        for span in self.inside {
            if self.outside.contains(&span) {
                self.found.shared.push(span);
            } else {
                self.found.codes.push(span);
            }
        }
        self.found
    }
}

/// Whether a mapping is a test that reads a resource, or a rule whose call reads one.
fn reads_a_resource(node: &Node) -> bool {
    let named = |node: &Node, key: &str| {
        let method = node.member(key).and_then(|member| text_of(&member.value));
        method.is_some_and(|method| matches!(method, "resources/read" | "resources-read"))
    };
    let call = node.member("call").map(|member| &member.value);
    named(node, "check") || named(node, "method") || call.is_some_and(|call| named(call, "method"))
}

/// Whether `resources` is the list of tests of a suite.
fn is_tests(node: &Node) -> bool {
    let Kind::Array(items) = &node.kind else {
        return false;
    };
    items.iter().any(|item| item.member("uri").is_some())
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Text(text) => Some(&text.value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (Vec<usize>, Vec<usize>) {
        let found = dependent(text, -32_002, &["roots/list"]).unwrap();
        let lines = |spans: &[Span]| {
            let line = |span: &Span| {
                text.bytes()
                    .take(span.start as usize)
                    .filter(|byte| *byte == b'\n')
                    .count()
                    + 1
            };
            spans.iter().map(line).collect()
        };
        (lines(&found.codes), lines(&found.shared))
    }

    #[test]
    fn only_what_is_expected_of_a_read_counts() {
        let text = "\
tools:
  - name: a
    tool: t
    expect:
      - target: result.error.code
        matcher: { exact: -32002 }
resources:
  - name: b
    uri: a://b
    expect:
      - target: result.error.code
        matcher: { exact: -32002 }   # kept
      - target: result.error.message
        matcher: { exact: -32002 }
  - name: c
    uri: a://c
    expect:
      assertions:
        - target: result.error
          matcher: { subset: { code: -32002, data: [-32002] } }
fixtures:
  errors:
    - name: x
      code: -32002
";
        assert_eq!(found(text), (vec![12, 20], vec![]));
    }

    #[test]
    fn rules_and_checks_that_read_count_too() {
        let text = "\
compliance:
  tests:
    - name: r
      call: { method: resources/read, params: { uri: 'a://b' } }
      expect:
        error:
          code: -32002
    - name: t
      call: { method: tools/call }
      expect:
        error: { code: -32002 }
    - check: resources-read
      expect:
        - { target: error.code, matcher: { schema: { const: -32002 } } }
";
        assert_eq!(found(text), (vec![7, 14], vec![]));
    }

    #[test]
    fn what_an_anchor_shares_with_others_is_left_to_a_person() {
        let text = "\
tools:
  - name: a
    tool: t
    expect: &gone
      - target: error.code
        matcher: { exact: -32002 }
resources:
  - name: b
    uri: a://b
    expect: *gone
";
        let (codes, shared) = found(text);
        // If an alias has no position of its own, nothing is reported about it.
        assert!(codes.is_empty(), "{codes:?} {shared:?}");
    }

    #[test]
    fn methods_are_found_where_they_stand() {
        let found =
            dependent("a: [x, roots/list]\nb: my roots/list\n", 1, &["roots/list"]).unwrap();
        let [(span, method)] = found.methods.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((span.start, *method), (7, "roots/list"));
        assert_eq!(dependent("a: [", 1, &[]), None);
    }
}
