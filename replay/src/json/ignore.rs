//! Places that are ignored when two messages are compared.

/// JSON pointers whose values are ignored. A segment `*` matches any member or element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignore {
    pointers: Vec<Vec<String>>,
}

/// Why a text is not a pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a JSON pointer: it must begin with `/`")]
pub struct IgnoreError {
    text: String,
}

/// One step from a value to one of its children.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'s> {
    /// An element of a list whose elements have names, such as tools.
    Element {
        index: usize,
        /// The member that names it.
        key: &'static str,
        name: &'s [u8],
    },
    Index(usize),
    Name(&'s [u8]),
}

/// The path from the root to a value, kept on the stack during a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathStack<'s> {
    pub(crate) above: Option<&'s Self>,
    pub(crate) step: Step<'s>,
}

impl Ignore {
    /// Parses pointers (RFC 6901). A pointer that does not start with one of `roots` is relative to
    /// `roots[0]`.
    pub fn new<T: AsRef<str>>(pointers: &[T], roots: &[&str]) -> Result<Self, IgnoreError> {
        let read = |text: &T| {
            let text = text.as_ref();
            let Some(rest) = text.strip_prefix('/') else {
                return Err(IgnoreError {
                    text: text.to_owned(),
                });
            };
            let unescape = |segment: &str| segment.replace("~1", "/").replace("~0", "~");
            let mut segments: Vec<String> = rest.split('/').map(unescape).collect();
            let rooted = segments
                .first()
                .is_some_and(|first| roots.contains(&first.as_str()));
            if let (false, Some(root)) = (rooted, roots.first()) {
                segments.insert(0, (*root).to_owned());
            }
            Ok(segments)
        };
        let pointers = pointers.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { pointers })
    }

    /// Whether nothing is ignored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pointers.is_empty()
    }

    /// The places, each as names and indexes from the root.
    pub(crate) fn places(&self) -> &[Vec<String>] {
        &self.pointers
    }

    /// Whether the value at the end of this trail is ignored.
    pub(crate) fn covers(&self, trail: &PathStack<'_>) -> bool {
        self.pointers.iter().any(|pointer| {
            let mut here = Some(trail);
            for segment in pointer.iter().rev() {
                let Some(trail) = here else { return false };
                if !trail.step.is(segment) {
                    return false;
                }
                here = trail.above;
            }
            here.is_none()
        })
    }
}

impl Step<'_> {
    fn is(&self, segment: &str) -> bool {
        if segment == "*" {
            return true;
        }
        match self {
            Self::Element { index, name, .. } => {
                segment.parse() == Ok(*index) || *name == segment.as_bytes()
            }
            Self::Index(index) => segment.parse() == Ok(*index),
            Self::Name(name) => *name == segment.as_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_match_whole_paths() {
        let ignore = Ignore::new(&["/params/a~1b/*/id", "/at"], &["params"]).unwrap();
        let params = PathStack {
            above: None,
            step: Step::Name(b"params"),
        };
        let at = PathStack {
            above: Some(&params),
            step: Step::Name(b"at"),
        };
        assert!(ignore.covers(&at));
        assert!(!ignore.covers(&params));
        let list = PathStack {
            above: Some(&params),
            step: Step::Name(b"a/b"),
        };
        let first = PathStack {
            above: Some(&list),
            step: Step::Index(0),
        };
        let id = PathStack {
            above: Some(&first),
            step: Step::Name(b"id"),
        };
        assert!(ignore.covers(&id));
        assert!(!ignore.covers(&first));
        assert!(Ignore::new(&["params"], &["params"]).is_err());
    }
}
