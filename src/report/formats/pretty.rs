//! Text for people: a line for each row, and its problems below.

use crate::report::model::Report;
use crate::report::safe;

/// Every row of every group, and the summaries.
pub(crate) fn text(report: &Report) -> String {
    let mut lines = vec![report.title.to_owned()];
    for group in &report.groups {
        lines.extend([String::new(), safe(&group.title)]);
        for row in &group.rows {
            let code = row.code.as_ref();
            let code = code.map_or(String::new(), |code| format!("{}  ", safe(code)));
            let (word, name) = (row.word.to_uppercase(), safe(&row.name));
            lines.push(format!("  {word:<12}  {code}{name}"));
            let details = row.problems.iter().flat_map(|problem| {
                [&problem.headline]
                    .into_iter()
                    .chain(&problem.lines)
                    .map(|line| format!("      {}", safe(line)))
            });
            lines.extend(details);
        }
    }
    if let Some(result) = &report.result {
        lines.extend([String::new(), format!("Result: {result}")]);
    }
    lines.join("\n") + "\n"
}
