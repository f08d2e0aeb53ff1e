//! Files of labelled examples, with which `tapewright eval --calibrate` compares judges.

use std::path::Path;

use crate::corpus::{Read, read_file};
use crate::issue::Code;
use crate::load::Files;
use crate::near::suggestion;
use crate::read::{Cursor, Fields};
use crate::source::SourceSpot;
use crate::suite::rubric::{DEFAULT_THRESHOLD, Form, Rubric};

/// Examples that a person has judged.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The models to compare with the person; empty if the command line gives them.
    pub judges: Vec<String>,
    /// Named rubrics, in addition to those of the suite.
    pub rubrics: Vec<(String, Rubric)>,
    /// The examples, at least one.
    pub examples: Vec<Example>,
}

/// One example.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its name in reports; its number if it has no name.
    pub name: String,
    /// The question; empty if there was none.
    pub input: String,
    /// The answer.
    pub output: String,
    /// The criterion.
    pub rubric: Rubric,
    /// Whether it passes, according to the person.
    pub label: bool,
    /// The person's score, from 0 to 1.
    pub score: Option<f64>,
    /// Its position.
    pub place: SourceSpot,
}

/// The names of the suite next to a file of examples.
#[derive(Clone, Debug, Default)]
pub struct SuiteNames<'k> {
    /// The names of its rubrics.
    pub rubrics: Vec<&'k str>,
    /// The names of its scorers.
    pub scorers: Vec<&'k str>,
}

/// Reads a file of examples, in YAML or JSON. References of its rubrics must be in the file or
/// known.
#[must_use]
pub fn load_calibration(
    path: &Path,
    files: &dyn Files,
    known: &SuiteNames<'_>,
) -> Read<Calibration> {
    const FORM: (&str, &str) = (
        "a file of examples",
        "it begins with `examples:` and a list of them",
    );
    read_file(path, files, FORM, |at| Calibration::read(at, known))
}

impl Calibration {
    fn read(at: &Cursor<'_>, known: &SuiteNames<'_>) -> Self {
        let mut fields = at.fields();
        let judges = fields.names("judges");
        let rubrics = fields.optional("rubrics").map(|at| at.entries());
        let rubrics = rubrics.unwrap_or_default();
        let mut known = known.clone();
        known.rubrics.extend(rubrics.iter().map(|(name, _)| *name));
        let rubrics = rubrics.iter();
        let rubrics = rubrics.map(|(name, at)| ((*name).to_owned(), Rubric::read_named(at)));
        let rubrics = rubrics.collect();
        let usual = fields.optional("rubric").map(|at| known.rubric(&at));
        let examples = fields.required("examples").map(|at| at.some_items());
        let examples = examples.unwrap_or_default();
        let examples = examples.iter().enumerate();
        let read =
            |(index, at): (usize, &Cursor<'_>)| Example::read(at, index, usual.as_ref(), &known);
        let examples = examples.map(read).collect();
        fields.finish();
        Self {
            judges,
            rubrics,
            examples,
        }
    }
}

impl SuiteNames<'_> {
    /// Reads a rubric, and reports references that do not exist.
    fn rubric(&self, at: &Cursor<'_>) -> Rubric {
        let rubric = Rubric::read(at);
        let (noun, name, names) = match &rubric.form {
            Form::Ref(name) => ("rubric", name, &self.rubrics),
            Form::Scorer { name, .. } => ("scorer", name, &self.scorers),
            Form::Text(_) | Form::Criteria(_) | Form::Tree(_) => return rubric,
        };
        if !names.contains(&name.as_str()) {
            let message = format!("unknown {noun} `{}`", name.escape_debug());
            let help = suggestion(name, &format!("{noun}s"), names);
            at.error(Code::Reference, message, help);
        }
        rubric
    }
}

impl Example {
    fn read(at: &Cursor<'_>, index: usize, usual: Option<&Rubric>, known: &SuiteNames<'_>) -> Self {
        let mut fields = at.fields();
        let name = fields.optional_name("name");
        let input = fields.optional("input").map(|at| at.text());
        let output = fields.required("output").map(|at| at.text());
        let own = fields.optional("rubric").map(|at| known.rubric(&at));
        if own.is_none() && usual.is_none() {
            fields.missing(&["rubric"]);
        }
        let rubric = own.or_else(|| usual.cloned()).unwrap_or_else(|| Rubric {
            form: Form::Text(String::new()),
            threshold: None,
            strict: false,
            place: at.place(),
        });
        let (label, score) = judged(&mut fields, &rubric);
        let example = Self {
            name: name.unwrap_or_else(|| (index + 1).to_string()),
            input: input.unwrap_or_default(),
            output: output.unwrap_or_default(),
            rubric,
            label,
            score,
            place: at.place(),
        };
        fields.finish();
        example
    }
}

/// The person's label: a word, a score, or both, which must not contradict each other. For a score
/// alone, the threshold of the rubric decides.
fn judged(fields: &mut Fields<'_>, rubric: &Rubric) -> (bool, Option<f64>) {
    let label = fields.optional("label");
    let score = fields.optional("score").map(|at| at.fraction());
    if label.is_none() && score.is_none() {
        fields.missing(&["label", "score"]);
    }
    let word = label.and_then(|at| at.word(&["pass", "fail"]));
    let least = match rubric.threshold {
        _ if rubric.strict => 1.0,
        threshold => threshold.unwrap_or(DEFAULT_THRESHOLD),
    };
    let by_score = score.is_some_and(|score| score >= least);
    (word.map_or(by_score, |word| word == "pass"), score)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use super::*;

    struct One(&'static str);

    impl Files for One {
        fn read(&self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
            Ok(self.0.as_bytes().to_vec())
        }

        fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
            Ok(path.to_owned())
        }
    }

    fn load(text: &'static str) -> Read<Calibration> {
        let known = SuiteNames {
            rubrics: vec!["other"],
            scorers: vec!["facts"],
        };
        load_calibration(Path::new("examples.yaml"), &One(text), &known)
    }

    #[test]
    fn examples_have_a_label_or_a_score_or_both() {
        let read = load(
            "judges: [gpt-5]\nrubric: names the release\nrubrics:\n  tone: {criteria: [{name: a, description: b}], threshold: 0.5}\nexamples:\n  - {input: q, output: a, label: pass}\n  - {name: second, output: b, label: fail, score: 0.2}\n  - {output: c, score: 0.7}\n  - {output: d, score: 0.69}\n  - {output: e, score: 0.8, rubric: {ref: tone, threshold: 0.9}}\n  - {output: f, score: 0.9, rubric: {ref: other, strict: true}}\n",
        );
        let found = read.value.expect("examples");
        assert_eq!(found.judges, ["gpt-5"]);
        let told: Vec<_> = found
            .examples
            .iter()
            .map(|one| (one.name.as_str(), one.label, one.score))
            .collect();
        assert_eq!(
            told,
            [
                ("1", true, None),
                ("second", false, Some(0.2)),
                ("3", true, Some(0.7)),
                ("4", false, Some(0.69)),
                ("5", false, Some(0.8)),
                ("6", false, Some(0.9)),
            ]
        );
    }

    #[test]
    fn the_published_schema_takes_what_is_read() {
        let schema = tapewright_schemas::published::find("calibration").expect("it is published");
        let schema = serde_json::from_str(schema.text()).expect("JSON");
        let validator = jsonschema::draft202012::new(&schema).expect("a schema");
        for (text, is_good) in [
            (
                include_str!("../../docs/examples/calibration/examples.yaml"),
                true,
            ),
            ("examples: [{output: a, rubric: r, score: 0.5}]", true),
            ("examples: [{output: a, rubric: r}]", false),
            ("examples: []", false),
            ("examples: [{output: a, rubric: r, label: good}]", false),
            (
                "examples: [{output: a, rubric: r, label: pass, more: 1}]",
                false,
            ),
        ] {
            let document = crate::to_json(text).expect("YAML");
            assert_eq!(validator.is_valid(&document), is_good, "{text}");
            assert_eq!(load(text).value.is_some(), is_good, "{text}");
        }
    }

    #[test]
    fn json_is_read_as_well() {
        let read = load(r#"{"examples": [{"output": "a", "rubric": "r", "label": "fail"}]}"#);
        assert!(!read.value.expect("examples").examples[0].label);
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        for (text, pointer) in [
            ("examples: []", "/examples"),
            ("{}", ""),
            ("[]", ""),
            ("examples: [{output: a, rubric: r}]", "/examples/0"),
            ("examples: [{output: a, label: pass}]", "/examples/0"),
            ("examples: [{label: pass, rubric: r}]", "/examples/0"),
            (
                "examples: [{output: a, rubric: r, label: good}]",
                "/examples/0/label",
            ),
            (
                "examples: [{output: a, rubric: r, score: 2}]",
                "/examples/0/score",
            ),
            (
                "examples: [{output: a, rubric: r, label: pass, more: 1}]",
                "/examples/0/more",
            ),
            (
                "examples: [{output: a, rubric: {criteria: x}, label: pass}]",
                "/examples/0/rubric/criteria",
            ),
        ] {
            let read = load(text);
            assert!(read.value.is_none(), "{text}");
            let places: Vec<_> = read
                .issues
                .iter()
                .filter_map(|issue| issue.place.as_ref())
                .map(|place| place.pointer.as_str())
                .collect();
            assert_eq!(places, [pointer], "{text}");
        }
    }
}
