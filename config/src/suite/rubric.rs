//! Rubrics: the criteria for an answer.

use crate::read::Cursor;
use crate::source::SourceSpot;

/// The criterion for an answer.
#[derive(Clone, Debug)]
pub struct Rubric {
    /// The text, the criteria, the tree, or the name of a rubric.
    pub form: Form,
    /// The minimum score, from 0 to 1; 0.7 if neither the rubric nor the eval sets it.
    pub threshold: Option<f64>,
    /// Only a score of 1 passes.
    pub strict: bool,
    /// Its position.
    pub place: SourceSpot,
}

/// The forms of a rubric.
#[derive(Clone, Debug)]
pub enum Form {
    /// A single judgement of the whole answer.
    Text(String),
    /// Several, averaged by weight.
    Criteria(Vec<Criterion>),
    /// Questions that lead to a score.
    Tree(Branch),
    /// A rubric of `rubrics`.
    Ref(String),
    /// A program of `scorers` grades.
    Scorer {
        /// Its name.
        name: String,
        /// The criteria for grading; empty if there are none.
        criteria: String,
    },
}

/// One of several criteria.
#[derive(Clone, Debug)]
pub struct Criterion {
    /// Its name in reports.
    pub name: String,
    /// The question to the judge.
    pub description: String,
    /// Its weight.
    pub weight: f64,
}

/// A node of a tree.
#[derive(Clone, Debug)]
pub enum Branch {
    /// A question and where its answers lead.
    Ask {
        /// The question.
        ask: String,
        /// The branch for yes.
        yes: Box<Self>,
        /// The branch for no.
        no: Box<Self>,
    },
    /// The end.
    Score {
        /// From 0 to 1.
        score: f64,
        /// Why.
        reason: Option<String>,
    },
}

/// The default threshold of evals and rubrics.
pub const DEFAULT_THRESHOLD: f64 = 0.7;

/// The key that names a scorer.
const SCORER: &str = "scorer";

impl Rubric {
    /// Reads a rubric where `ref` may name another one, and `scorer` a program.
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        Self::form(at, &["criteria", "tree", "ref", "scorer"])
    }

    /// Reads an entry of `rubrics`, which names no other.
    pub(crate) fn read_named(at: &Cursor<'_>) -> Self {
        Self::form(at, &["criteria", "tree"])
    }

    fn form(at: &Cursor<'_>, forms: &[&'static str]) -> Self {
        if at.is_text() {
            return Self {
                form: Form::Text(at.name()),
                threshold: None,
                strict: false,
                place: at.place(),
            };
        }
        if !at.is_object() {
            at.wrong_type("a string or an object");
            return Self {
                form: Form::Text(String::new()),
                threshold: None,
                strict: false,
                place: at.place(),
            };
        }
        let mut fields = at.fields();
        // A scorer gets its criteria as a text, not as a list.
        let is_scored = forms.contains(&SCORER) && fields.optional(SCORER).is_some();
        let is_form = |form: &&'static str| !is_scored || *form != "criteria";
        let forms: Vec<_> = forms.iter().copied().filter(is_form).collect();
        let form = match fields.exactly_one(&forms) {
            Some((SCORER, name)) => Form::Scorer {
                name: name.name(),
                criteria: fields
                    .optional("criteria")
                    .map(|at| at.text())
                    .unwrap_or_default(),
            },
            Some(("criteria", list)) => {
                Form::Criteria(list.some_items().iter().map(Criterion::read).collect())
            }
            Some(("tree", tree)) => Form::Tree(Branch::read(&tree)),
            Some((_, name)) => Form::Ref(name.name()),
            None => Form::Text(String::new()),
        };
        let rubric = Self {
            form,
            threshold: fields.optional("threshold").map(|at| at.fraction()),
            strict: fields.flag("strict"),
            place: at.place(),
        };
        fields.finish();
        rubric
    }
}

impl Criterion {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let criterion = Self {
            name: fields.name("name"),
            description: fields.name("description"),
            weight: fields.optional("weight").map_or(1.0, |at| at.positive()),
        };
        fields.finish();
        criterion
    }
}

impl Branch {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let branch = match fields.exactly_one(&["ask", "score"]) {
            Some(("ask", question)) => {
                let ask = question.name();
                let mut below =
                    |key| Box::new(fields.required(key).map_or(Self::END, |at| Self::read(&at)));
                Self::Ask {
                    ask,
                    yes: below("yes"),
                    no: below("no"),
                }
            }
            Some((_, score)) => Self::Score {
                score: score.fraction(),
                reason: fields.optional("reason").map(|at| at.text()),
            },
            None => Self::END,
        };
        let is_leaf = matches!(branch, Self::Score { .. });
        fields.finish_with(|key| match key {
            "yes" | "no" if is_leaf => Some("a score ends the walk; to ask, write `ask`"),
            "true" | "false" => Some("the answers are `yes` and `no`"),
            _ => None,
        });
        branch
    }

    const END: Self = Self::Score {
        score: 0.0,
        reason: None,
    };
}
