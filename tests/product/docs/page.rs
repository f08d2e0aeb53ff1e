//! A page as text and blocks of code, and back again.

use std::fmt::Write as _;

/// A block of code, fenced with three backticks.
#[derive(Debug)]
pub(super) struct Block {
    /// The number of its first line on the page.
    pub(super) line: usize,
    /// The text before each line, in a list.
    pub(super) margin: String,
    /// `console`, `sh`, `yaml`, …
    pub(super) language: String,
    /// The marks after the language, separated by commas: `file=weather.yaml`, `status=1`.
    pub(super) marks: Vec<String>,
    pub(super) lines: Vec<String>,
}

impl Block {
    /// The value of a mark.
    pub(super) fn mark(&self, name: &str) -> Option<&str> {
        let mut values = self
            .marks
            .iter()
            .filter_map(|mark| mark.split_once('=').filter(|(one, _)| *one == name));
        values.next().map(|(_, value)| value)
    }

    fn info(&self) -> String {
        let mut all = vec![self.language.clone()];
        all.extend(self.marks.iter().cloned());
        all.join(",")
    }
}

#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    Block(Block),
}

/// Cuts a page into its parts.
pub(super) fn read(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in text.lines().enumerate() {
        let plain = line.trim_start();
        let margin = &line[..line.len() - plain.len()];
        match (&mut open, plain.strip_prefix("```")) {
            (Some(_), Some("")) => parts.extend(open.take().map(Part::Block)),
            (Some(block), _) => {
                let rest = line.strip_prefix(&block.margin).unwrap_or(plain);
                block.lines.push(rest.to_owned());
            }
            (None, Some(info)) => {
                let mut words = info.split(',').map(str::to_owned);
                open = Some(Block {
                    line: at + 1,
                    margin: margin.to_owned(),
                    language: words.next().unwrap_or_default(),
                    marks: words.collect(),
                    lines: Vec::new(),
                });
            }
            (None, None) => parts.push(Part::Text(line.to_owned())),
        }
    }
    assert!(open.is_none(), "a block without an end: {open:?}");
    parts
}

/// The page again.
pub(super) fn write(parts: &[Part]) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Text(line) => writeln!(out, "{line}").expect("a text"),
            Part::Block(block) => {
                let margin = &block.margin;
                writeln!(out, "{margin}```{}", block.info()).expect("a text");
                for line in &block.lines {
                    let line = format!("{margin}{line}");
                    writeln!(out, "{}", line.trim_end()).expect("a text");
                }
                writeln!(out, "{margin}```").expect("a text");
            }
        }
    }
    out
}

/// A command, and the output that the page shows.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) command: Vec<String>,
    pub(super) shown: Vec<String>,
}

impl Step {
    /// The command without its prompt.
    pub(super) fn line(&self) -> String {
        let plain = |line: &String| line.strip_prefix("$ ").unwrap_or(line).to_owned();
        let all: Vec<String> = self.command.iter().map(plain).collect();
        all.join("\n")
    }
}

/// The commands of a block. In a block of `sh` each line is one, without output.
pub(super) fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for line in &block.lines {
        let is_command = line.starts_with("$ ") || block.language == "sh" && !line.is_empty();
        match steps.last_mut() {
            Some(step) if goes_on => step.command.push(line.clone()),
            _ if is_command => steps.push(Step {
                command: vec![line.clone()],
                shown: Vec::new(),
            }),
            Some(step) => step.shown.push(line.clone()),
            None => panic!("line {}: no command in front of `{line}`", block.line),
        }
        goes_on = line.ends_with('\\') && (goes_on || is_command);
    }
    steps
}

#[test]
fn a_page_is_written_as_it_was_read() {
    let page =
        "# A\n\ntext\n\n1. list\n   ```console,status=1\n   $ a \\\n     b\n\n   out\n   ```\n";
    let parts = read(page);
    assert_eq!(write(&parts), page);
    let Some(Part::Block(block)) = parts.last() else {
        panic!("{parts:?}");
    };
    assert_eq!(block.mark("status"), Some("1"));
    let steps = steps(block);
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].line(), "a \\\n  b");
    assert_eq!(steps[0].shown, ["", "out"]);
}
