//! A self-contained page.

use std::fmt::Write as _;

use crate::report::model::{Group, Report, Row, Status};
use crate::report::safe;

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1c1c1c;background:#fff}\
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\
table{border-collapse:collapse;width:100%}td{border-top:1px solid #ddd;padding:.35rem .6rem;vertical-align:top}\
td:first-child{white-space:nowrap;font-weight:600}\
.pass{color:#1a7f37}.fail{color:#b3261e}.other{color:#6b6b6b}\
pre{margin:.2rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere;color:#444}\
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}td{border-color:#3a3a3a}pre{color:#bbb}\
.pass{color:#5fd07f}.fail{color:#ff8f86}.other{color:#a0a0a0}}";

/// The page.
pub(crate) fn text(report: &Report) -> String {
    let mut body = String::new();
    if let Some(result) = &report.result {
        paragraph(result, &mut body);
    }
    for group in &report.groups {
        section(group, &mut body);
    }
    page(report.title, &body)
}

/// A page with this title and body, which is markup.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

fn section(group: &Group, out: &mut String) {
    let _never_fails = writeln!(out, "<h2>{}</h2>", escaped(&group.title));
    if let Some(summary) = &group.summary {
        paragraph(summary, out);
    }
    if !group.rows.is_empty() {
        out.push_str("<table>\n");
        for row in &group.rows {
            line(row, out);
        }
        out.push_str("</table>\n");
    }
    for note in &group.notes {
        paragraph(note, out);
    }
}

fn line(row: &Row, out: &mut String) {
    let class = match row.status {
        Status::Pass | Status::Flaky => "pass",
        Status::Fail | Status::Error => "fail",
        Status::Inconclusive | Status::Skipped => "other",
    };
    let (word, name) = (escaped(&row.word), escaped(&row.full_name()));
    let _never_fails = write!(out, "<tr><td class=\"{class}\">{word}</td><td>{name}");
    let mut details = row.details();
    details.extend(row.why.clone());
    if !details.is_empty() {
        let details: Vec<String> = details.iter().map(|one| escaped(one)).collect();
        let _never_fails = write!(out, "<pre>{}</pre>", details.join("\n"));
    }
    out.push_str("</td></tr>\n");
}

fn paragraph(text: &str, out: &mut String) {
    let _never_fails = writeln!(out, "<p>{}</p>", escaped(text));
}

/// A text with HTML escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in safe(text).chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::{Level, Problem};

    #[test]
    fn nothing_of_a_peer_is_markup() {
        let said = "</pre><script>alert('x')</script>&\"\u{1b}[31m";
        let mut row = Row::new(Status::Fail, "fail", said);
        row.problems.push(Problem::new(Some(Level::Error), said));
        row.why = Some(said.to_owned());
        let group = Group {
            title: said.to_owned(),
            rows: vec![row],
            notes: vec![said.to_owned()],
            ..Group::default()
        };
        let page = text(&Report {
            title: "Compliance",
            groups: vec![group],
            result: Some(said.to_owned()),
        });
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains('\u{1b}'), "{page}");
        assert_eq!(page.matches("&lt;script&gt;").count(), 6, "{page}");
    }
}
