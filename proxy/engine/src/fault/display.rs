//! Formats a fault as words that parse as the same fault.

use std::fmt;

use tapewright_schemas::event::Direction;

use super::kinds::FaultTarget;
use super::spec::Fault;

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.kind.name)?;
        let selector = &self.selector;
        let texts = [
            ("name", &self.name),
            ("method", &selector.method),
            ("tool", &selector.tool),
            ("resource", &selector.resource),
            ("prompt", &selector.prompt),
            ("server", &selector.server),
        ];
        for (key, value) in texts {
            if let Some(value) = value {
                word(out, key, value)?;
            }
        }
        if let Some(session) = selector.session {
            write!(out, " session={session}")?;
        }
        if let Some(dir) = selector.dir {
            write!(out, " dir={}", Direction::name(dir))?;
        }
        if self.on != self.kind.on {
            let on = match self.on {
                FaultTarget::Answer => "answer",
                FaultTarget::Request => "request",
            };
            write!(out, " on={on}")?;
        }
        let counts = [
            ("nth", selector.nth),
            ("first", selector.first),
            ("every", selector.every),
            ("after", selector.after_met),
        ];
        for (key, value) in counts {
            if let Some(value) = value {
                write!(out, " {key}={value}")?;
            }
        }
        if let Some(time) = selector.after_time {
            write!(out, " after={}ms", time.as_millis())?;
        }
        if let Some(millionths) = selector.probability {
            write!(out, " probability={}", f64::from(millionths) / 1_000_000.0)?;
        }
        for (pointer, value) in &selector.equals {
            word(out, pointer, value)?;
        }
        for (name, value) in self.values.iter() {
            word(out, name, value)?;
        }
        Ok(())
    }
}

fn word(out: &mut fmt::Formatter<'_>, key: &str, value: &str) -> fmt::Result {
    write!(out, " ")?;
    escaped(out, key)?;
    write!(out, "=")?;
    escaped(out, value)
}

fn escaped(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for char in text.chars() {
        if char.is_whitespace() || matches!(char, '\'' | '"' | '\\' | '=') {
            write!(out, "\\")?;
        }
        write!(out, "{char}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_was_written_reads_as_the_same() {
        for text in [
            "hang",
            "hang tool=search nth=3",
            r"slow tool=my\ tool session=2 dir=to_server on=request every=4 after=2000ms probability=0.25 delay_ms=10 jitter_ms=3",
            r#"error name=e method=resources/* first=2 after=1 /a\=b=x\"\ y code=-1 message=it\'s\ down"#,
            "garbage prompt=p server=fs text=a=b",
            "garbage resource=x text=a=b",
        ] {
            let fault = Fault::parse(text).unwrap();
            let again = Fault::parse(&fault.to_string()).unwrap();
            assert_eq!(fault.to_string(), again.to_string());
            assert_eq!(fault.selector, again.selector);
            assert_eq!(fault.values, again.values);
            assert_eq!((fault.name, fault.on), (again.name, again.on));
        }
    }
}
