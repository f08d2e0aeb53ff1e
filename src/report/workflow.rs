//! Workflow commands of GitHub Actions.

/// An error, as a line that the runner understands. Text of others cannot begin another
/// command: line ends are escaped.
pub(crate) fn error(file: &str, title: &str, text: &str) -> String {
    format!(
        "::error file={},title={}::{}\n",
        property(file),
        property(title),
        data(text)
    )
}

/// Text behind a command: what would end it is escaped.
pub(crate) fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property of a command.
pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_peer_is_a_command() {
        assert_eq!(data("a%b\n::error::x\r"), "a%25b%0A::error::x%0D");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
    }

    #[test]
    fn text_of_others_stays_in_its_place() {
        assert_eq!(
            error("a,b:c", "t\n::warning::", "50 %\n::set-output::x"),
            "::error file=a%2Cb%3Ac,title=t%0A%3A%3Awarning%3A%3A::50 %25%0A::set-output::x\n"
        );
    }
}
