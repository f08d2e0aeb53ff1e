//! Finds the server of a suite that a recording belongs to.

use tapewright_config::Suite;

use crate::report;

/// The servers for the labels of recordings.
///
/// A session counts for the server whose name in the suite is its label. A suite with one server
/// and a recording of one server belong together even if the names differ, which is reported.
#[derive(Debug)]
pub(crate) struct Labels<'s> {
    suite: &'s Suite,
    only: Option<&'s str>,
    /// Notes about the assignment.
    pub(crate) notes: Vec<String>,
}

impl<'s> Labels<'s> {
    /// The labels of a recording, in any order.
    pub(crate) fn of<'l>(suite: &'s Suite, labels: impl IntoIterator<Item = &'l str>) -> Self {
        let mut distinct: Vec<&str> = labels.into_iter().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut found = Self {
            suite,
            only: None,
            notes: Vec::new(),
        };
        if let ([only], [label]) = (suite.servers.as_slice(), distinct.as_slice())
            && suite.server(label).is_none()
        {
            let of = match *label {
                "" => "the recording has no label".to_owned(),
                label => format!("the recording is of `{}`", report::safe(label)),
            };
            found.notes.push(format!(
                "{of}, and counts as the suite's only server `{}`",
                report::safe(&only.name)
            ));
            found.only = Some(&only.name);
            return found;
        }
        for label in distinct {
            if suite.server(label).is_none() {
                found.notes.push(format!(
                    "the suite has no server `{}`; its recorded exchanges are ignored",
                    report::safe(label)
                ));
            }
        }
        found
    }

    /// The name in the suite of the server with this label.
    pub(crate) fn server(&self, label: &str) -> Option<&'s str> {
        let known = || Some(self.suite.server(label)?.name.as_str());
        self.only.or_else(known)
    }
}
