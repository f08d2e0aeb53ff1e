//! Prints answers of queries: as a table, as lines of JSON, as CSV.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Stdout, Write};
use std::time::Duration;

use tapewright_fleet_query::{Cell, Counts};

use super::{err, is_risky, out, safe, size};

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Aligned columns.
    Table,
    /// One object of JSON on each line.
    Json,
    /// Comma-separated values.
    Csv,
    /// A plan: lines without changes.
    Plan,
}

/// How many rows determine the widths of columns. Later rows are printed as they arrive.
const MEASURED: usize = 1_000;
/// The widest column of a table, in characters; longer texts are cut.
const WIDEST: usize = 60;

/// Prints an answer as it arrives.
pub(crate) struct Printer<W: Write = BufWriter<Stdout>> {
    out: W,
    form: Form,
    columns: Vec<String>,
    is_terminal: bool,
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    is_begun: bool,
}

impl Printer {
    /// Prints to stdout.
    pub(crate) fn new(form: Form, columns: &[String], is_terminal: bool) -> Self {
        Self::to(BufWriter::new(io::stdout()), form, columns, is_terminal)
    }
}

impl<W: Write> Printer<W> {
    fn to(out: W, form: Form, columns: &[String], is_terminal: bool) -> Self {
        Self {
            out,
            form,
            columns: columns.to_vec(),
            is_terminal,
            waiting: Vec::new(),
            widths: None,
            is_begun: false,
        }
    }

    /// Prints the next rows.
    pub(crate) fn rows(&mut self, rows: &[Vec<Cell>]) -> io::Result<()> {
        for row in rows {
            match self.form {
                Form::Json => self.json(row)?,
                Form::Csv => self.csv(row)?,
                Form::Plan => self.plan(row)?,
                Form::Table => self.table(row)?,
            }
        }
        Ok(())
    }

    /// Prints the rest.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.form {
            Form::Table if self.widths.is_none() => self.measure()?,
            Form::Csv => self.csv_head()?,
            _ => {}
        }
        self.out.flush()
    }

    fn table(&mut self, row: &[Cell]) -> io::Result<()> {
        let row: Vec<String> = row.iter().map(short).collect();
        if self.widths.is_some() {
            return self.line(&row);
        }
        self.waiting.push(row);
        if self.waiting.len() >= MEASURED {
            self.measure()?;
        }
        Ok(())
    }

    /// Determines the widths, and prints the waiting rows.
    fn measure(&mut self) -> io::Result<()> {
        let head: Vec<String> = self.columns.iter().map(|name| cut(&safe(name))).collect();
        let mut widths: Vec<usize> = head.iter().map(|name| width(name)).collect();
        for row in &self.waiting {
            for (most, cell) in widths.iter_mut().zip(row) {
                *most = width(cell).max(*most);
            }
        }
        self.widths = Some(widths);
        self.line(&head)?;
        for row in std::mem::take(&mut self.waiting) {
            self.line(&row)?;
        }
        Ok(())
    }

    fn line(&mut self, row: &[String]) -> io::Result<()> {
        let mut line = String::new();
        for (cell, most) in row.iter().zip(self.widths.iter().flatten()) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', most.saturating_sub(width(cell))));
        }
        writeln!(self.out, "{}", line.trim_end())
    }

    fn plan(&mut self, row: &[Cell]) -> io::Result<()> {
        for cell in row {
            for line in text(cell).lines() {
                writeln!(self.out, "{}", safe(line))?;
            }
        }
        Ok(())
    }

    fn json(&mut self, row: &[Cell]) -> io::Result<()> {
        let mut line = String::from("{");
        for (at, (name, cell)) in self.columns.iter().zip(row).enumerate() {
            if at > 0 {
                line.push(',');
            }
            line.push_str(&quoted(name));
            line.push(':');
            match cell {
                Cell::Text(text) => line.push_str(&quoted(text)),
                Cell::Double(number) if !number.is_finite() => line.push_str("null"),
                Cell::Double(number) => {
                    // In JSON's form: with a point or an exponent, so that it stays a
                    // floating-point number.
                    line.push_str(&serde_json::Value::from(*number).to_string());
                }
                Cell::Null => line.push_str("null"),
                cell => line.push_str(&text(cell)),
            }
        }
        writeln!(self.out, "{line}}}")
    }

    fn csv_head(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_begun, true) {
            return Ok(());
        }
        let names = self
            .columns
            .iter()
            .map(|name| field(name, self.is_terminal));
        let head = names.collect::<Vec<_>>().join(",");
        writeln!(self.out, "{head}")
    }

    fn csv(&mut self, row: &[Cell]) -> io::Result<()> {
        self.csv_head()?;
        let is_terminal = self.is_terminal;
        let fields = row.iter().map(|cell| field(&text(cell), is_terminal));
        let line = fields.collect::<Vec<_>>().join(",");
        writeln!(self.out, "{line}")
    }
}

/// The complete value; empty for null.
fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Long(number) => number.to_string(),
        Cell::Count(number) => number.to_string(),
        Cell::Double(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
    }
}

/// A value in a table cell.
fn short(cell: &Cell) -> String {
    match cell {
        Cell::Double(number) if number.is_finite() => {
            let text = format!("{number:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        // More than this is never shown.
        Cell::Text(text) => {
            let head: String = text.chars().take(WIDEST + 1).collect();
            cut(&safe(&head))
        }
        cell => text(cell),
    }
}

fn cut(text: &str) -> String {
    if width(text) <= WIDEST {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(WIDEST - 1).collect();
    cut.push('…');
    cut
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// A text as JSON, with characters escaped that affect a terminal.
fn quoted(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let mut out = String::with_capacity(quoted.len());
    for char in quoted.chars() {
        if is_risky(char) {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
                // Writing to a string does not fail.
                let _never_fails = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(char);
        }
    }
    out
}

/// A field of CSV (RFC 4180). CSV has no escapes: on a terminal, a field is printed as in a table,
/// in a file unchanged.
fn field(text: &str, is_terminal: bool) -> String {
    let text = if is_terminal {
        safe(text)
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// Prints a query.
pub(crate) fn sql(sql: &str) -> io::Result<()> {
    for line in sql.lines() {
        out(&format!("{}\n", safe(line)))?;
    }
    Ok(())
}

/// What was read for an answer.
pub(crate) fn counts(counts: &Counts, took: Duration) {
    let left = |all: u64, rest: u64| all.saturating_sub(rest);
    err(&format!(
        "{} tapes, {} skipped by name; {} files of the rest, {} skipped by their entries; {} opened, {} read; {}\n",
        counts.tapes(),
        left(counts.tapes(), counts.tapes_read()),
        counts.files(),
        left(counts.files(), counts.files_chosen()),
        counts.files_opened(),
        size(counts.bytes()),
        super::duration(took),
    ));
}

/// Tapes with missing parts.
pub(crate) fn damaged(tapes: &[(String, String)]) {
    for (tape, missing) in tapes.iter().take(SHOWN) {
        let missing = safe(missing);
        err(&format!(
            "{tape} is damaged, its rest was not queried: {missing}\n"
        ));
    }
    if let Some(more) = tapes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        err(&format!("{more} more tapes are damaged\n"));
    }
}

/// How many damaged tapes are listed.
const SHOWN: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]52;c;eA==\u{7}\u{9b}2J\r\nb\u{202e},\"c\"";

    fn printed(form: Form, is_terminal: bool, rows: &[Vec<Cell>]) -> String {
        let mut out = Vec::new();
        let columns = ["name".to_owned(), "n\u{1b}[1m".to_owned()];
        let mut printer = Printer::to(&mut out, form, &columns, is_terminal);
        printer.rows(rows).unwrap();
        printer.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    fn hostile() -> Vec<Vec<Cell>> {
        vec![vec![Cell::Text(HOSTILE.to_owned()), Cell::Null]]
    }

    fn touches(text: &str) -> bool {
        text.chars().any(|char| char != '\n' && is_risky(char))
    }

    #[test]
    fn text_of_others_touches_no_terminal() {
        for form in [Form::Table, Form::Json, Form::Csv, Form::Plan] {
            let text = printed(form, true, &hostile());
            assert!(!touches(&text), "{form:?}: {text:?}");
        }
        assert_eq!(printed(Form::Table, true, &hostile()).lines().count(), 2);
    }

    #[test]
    fn json_and_csv_keep_what_a_cell_says() {
        let line = printed(Form::Json, false, &hostile());
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["name"], HOSTILE);
        assert!(read["n\u{1b}[1m"].is_null());
        let csv = printed(Form::Csv, false, &hostile());
        let quoted = format!("\"{}\",", HOSTILE.replace('"', "\"\""));
        assert!(csv.ends_with(&format!("{quoted}\n")), "{csv:?}");
    }

    #[test]
    fn a_table_has_columns_and_short_numbers() {
        let row = |name: &str, number| vec![Cell::Text(name.to_owned()), Cell::Double(number)];
        let long = "x".repeat(100);
        let text = printed(Form::Table, true, &[row("a", 1.0), row(&long, 2.123_456)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], format!("a{}1", " ".repeat(WIDEST + 1)));
        assert_eq!(lines[2], format!("{}…  2.123", "x".repeat(WIDEST - 1)));
    }

    #[test]
    fn numbers_are_json() {
        let rows = [vec![Cell::Double(f64::NAN), Cell::Long(-3)]];
        assert!(printed(Form::Json, false, &rows).starts_with("{\"name\":null,"));
        let rows = [vec![Cell::Double(0.5), Cell::Flag(true)]];
        assert!(printed(Form::Json, false, &rows).starts_with("{\"name\":0.5,"));
    }

    #[test]
    fn no_rows_still_have_columns() {
        assert!(printed(Form::Csv, false, &[]).starts_with("name,"));
        assert!(printed(Form::Table, false, &[]).starts_with("name  "));
        assert_eq!(printed(Form::Json, false, &[]), "");
    }
}
