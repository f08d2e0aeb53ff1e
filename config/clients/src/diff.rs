//! Edits as a unified diff.

use std::ops::Range;

use tapewright_schemas::slices::Part as _;

use crate::edit::Edit;

/// Lines around a change.
const CONTEXT: usize = 3;

/// The maximum number of characters of a line that are shown.
const MAX_LINE_CHARS: usize = 400;

/// A unified diff of edits, which must be in order. Text in `hidden` ranges is shown as `…`.
#[must_use]
pub fn unified(name: &str, text: &str, edits: &[Edit], hidden: &[Range<usize>]) -> String {
    let view = View {
        text,
        edits,
        hidden,
        starts: line_starts(text),
    };
    let mut shown = format!("--- {name}\n+++ {name}\n");
    let mut added = 0;
    for hunk in view.hunks() {
        added = view.hunk(&hunk, added, &mut shown);
    }
    shown
}

struct View<'t> {
    text: &'t str,
    edits: &'t [Edit],
    hidden: &'t [Range<usize>],
    /// The offset of each line, and the end of the text.
    starts: Vec<usize>,
}

/// Lines with the edits in them.
struct Hunk {
    lines: Range<usize>,
    edits: Range<usize>,
}

impl View<'_> {
    /// The lines that edits change; nearby ones are combined.
    fn hunks(&self) -> Vec<Hunk> {
        let mut hunks: Vec<Hunk> = Vec::new();
        for (at, edit) in self.edits.iter().enumerate() {
            let lines = self.line_of(edit.range.start)..self.line_of(edit.range.end) + 1;
            match hunks.last_mut() {
                Some(last) if lines.start <= last.lines.end + 2 * CONTEXT => {
                    last.lines.end = last.lines.end.max(lines.end);
                    last.edits.end = at + 1;
                }
                _ => hunks.push(Hunk {
                    lines,
                    edits: at..at + 1,
                }),
            }
        }
        hunks
    }

    /// Shows a hunk. `added` is how many more lines the changed text has before it.
    fn hunk(&self, hunk: &Hunk, added: isize, shown: &mut String) -> isize {
        let count = self.starts.len().saturating_sub(1);
        let first = hunk.lines.start.saturating_sub(CONTEXT);
        let last = (hunk.lines.end + CONTEXT).min(count);
        let mut old = Vec::new();
        let mut new = Vec::new();
        let mut body = String::new();
        for line in first..hunk.lines.start {
            push(&mut body, ' ', &self.shown(&self.line(line)));
        }
        let mut line = hunk.lines.start;
        while line < hunk.lines.end.min(count) {
            let (until, edits) = self.together(line, hunk);
            let whole = self.starts.get(line).copied().unwrap_or_default()
                ..self.starts.get(until).copied().unwrap_or(self.text.len());
            if edits.is_empty() {
                push(&mut body, ' ', &self.shown(&whole));
                old.push(1);
                new.push(1);
            } else {
                let before = self.shown(&whole);
                let after = self.changed(&whole, edits);
                old.push(push(&mut body, '-', &before));
                new.push(push(&mut body, '+', &after));
            }
            line = until;
        }
        for line in hunk.lines.end..last {
            push(&mut body, ' ', &self.shown(&self.line(line)));
        }
        let around = (hunk.lines.start - first) + last.saturating_sub(hunk.lines.end);
        let (old, new) = (
            old.iter().sum::<usize>() + around,
            new.iter().sum::<usize>() + around,
        );
        let at = first.saturating_add(1);
        let new_at = at.saturating_add_signed(added);
        let counts = format!("@@ -{at},{old} +{new_at},{new} @@\n");
        shown.push_str(&counts);
        shown.push_str(&body);
        added + (new.cast_signed() - old.cast_signed())
    }

    /// The end of the lines that change together with this one, and the edits in them.
    fn together(&self, line: usize, hunk: &Hunk) -> (usize, &[Edit]) {
        let mut until = line + 1;
        let edits = self.edits.part(hunk.edits.clone());
        let first = edits.partition_point(|edit| self.line_of(edit.range.start) < line);
        let mut end = first;
        while let Some(edit) = edits.get(end)
            && self.line_of(edit.range.start) < until
        {
            until = until.max(self.line_of(edit.range.end) + 1);
            end += 1;
        }
        (until, edits.part(first..end))
    }

    fn line_of(&self, offset: usize) -> usize {
        let lines = self.starts.partition_point(|start| *start <= offset);
        // The end of the text belongs to its last line.
        let last = self.starts.len().saturating_sub(2);
        lines.saturating_sub(1).min(last)
    }

    fn line(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).copied();
        start..end.unwrap_or(self.text.len())
    }

    /// The text of a range, without what is hidden.
    fn shown(&self, range: &Range<usize>) -> String {
        let mut shown = String::new();
        let mut at = range.start;
        for hidden in self.hidden {
            if hidden.end <= at || hidden.start >= range.end {
                continue;
            }
            // Hidden text may begin before the range.
            shown.push_str(self.text.part(at..hidden.start.max(at)));
            shown.push('…');
            at = hidden.end;
        }
        if at < range.end {
            shown.push_str(self.text.part(at..range.end));
        } else if !shown.ends_with('\n') && self.ends_line(range) {
            shown.push('\n');
        }
        shown
    }

    fn ends_line(&self, range: &Range<usize>) -> bool {
        let text = self.text.get(range.clone());
        text.is_some_and(|text| text.ends_with('\n'))
    }

    fn changed(&self, range: &Range<usize>, edits: &[Edit]) -> String {
        let mut changed = String::new();
        let mut at = range.start;
        for edit in edits {
            changed.push_str(&self.shown(&(at..edit.range.start)));
            changed.push_str(&edit.new);
            at = edit.range.end;
        }
        changed.push_str(&self.shown(&(at..range.end)));
        changed
    }
}

/// Appends lines with a sign before each; returns how many.
fn push(body: &mut String, sign: char, text: &str) -> usize {
    let mut count = 0;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_end_matches(['\n', '\r']);
        body.push(sign);
        body.extend(plain.chars().take(MAX_LINE_CHARS));
        if plain.chars().count() > MAX_LINE_CHARS {
            body.push('…');
        }
        body.push('\n');
        if !line.ends_with('\n') {
            body.push_str("\\ No newline at end of file\n");
        }
        count += 1;
    }
    count
}

fn line_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    if starts.last() != Some(&text.len()) {
        starts.push(text.len());
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::apply;

    #[test]
    fn a_diff_shows_changed_lines_with_some_around_and_hides_the_rest() {
        let text = "a\nb\nc\nd SECRET\ne\nf old\ng\nh\ni\nj\n";
        let secret = text.find("SECRET").expect("there");
        let old = text.find("old").expect("there");
        let edit = Edit {
            range: old..old + 3,
            new: "new\nmore".to_owned(),
        };
        let hidden = secret..secret + 6;
        let diff = unified("f", text, std::slice::from_ref(&edit), &[hidden]);
        let wanted =
            "--- f\n+++ f\n@@ -3,7 +3,8 @@\n c\n d …\n e\n-f old\n+f new\n+more\n g\n h\n i\n";
        assert_eq!(diff, wanted);
        assert_eq!(
            apply(
                "xoldy",
                &[Edit {
                    range: 1..4,
                    new: String::new()
                }]
            ),
            "xy"
        );
    }

    #[test]
    fn distant_changes_are_hunks_of_their_own() {
        let lines: Vec<String> = (0..40).map(|line| format!("line {line}\n")).collect();
        let text = lines.concat();
        let at = |word: &str| {
            let start = text.find(word).expect("there");
            Edit {
                range: start..start + word.len(),
                new: "x\ny".to_owned(),
            }
        };
        let diff = unified("f", &text, &[at("line 5"), at("line 30")], &[]);
        assert!(diff.contains("@@ -3,7 +3,8 @@"), "{diff}");
        assert!(diff.contains("@@ -28,7 +29,8 @@"), "{diff}");
    }
}
