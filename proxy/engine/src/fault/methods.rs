//! The messages that a selector can match, from what MCP defines about methods.

use tapewright_schemas::event::Direction;

use super::selector::Selector;

/// The properties of a kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExpectedMessage {
    /// Its direction.
    pub(super) dir: Direction,
    /// Whether it is a request; otherwise it is a notification.
    pub(super) is_request: bool,
}

impl ExpectedMessage {
    /// All kinds of messages.
    pub(super) fn all() -> Vec<Self> {
        let both = [Direction::ToServer, Direction::ToClient].into_iter();
        let each = |dir| [true, false].map(|is_request| Self { dir, is_request });
        both.flat_map(each).collect()
    }
}

/// The methods that only one side sends, in any revision: names, and prefixes that end in a slash.
const ONE_WAY: [(&str, Direction); 21] = [
    ("completion/", Direction::ToServer),
    ("elicitation/", Direction::ToClient),
    ("initialize", Direction::ToServer),
    ("logging/", Direction::ToServer),
    ("notifications/elicitation/", Direction::ToClient),
    ("notifications/initialized", Direction::ToServer),
    ("notifications/message", Direction::ToClient),
    ("notifications/prompts/", Direction::ToClient),
    ("notifications/resources/", Direction::ToClient),
    ("notifications/roots/", Direction::ToServer),
    ("notifications/subscriptions/", Direction::ToClient),
    ("notifications/tasks", Direction::ToClient),
    ("notifications/tools/", Direction::ToClient),
    ("prompts/", Direction::ToServer),
    ("resources/", Direction::ToServer),
    ("roots/", Direction::ToClient),
    ("sampling/", Direction::ToClient),
    ("server/", Direction::ToServer),
    ("subscriptions/", Direction::ToServer),
    ("tasks/update", Direction::ToServer),
    ("tools/", Direction::ToServer),
];

/// The prefix of the methods of notifications.
const NOTIFICATIONS: &str = "notifications/";

/// The direction of a method that only one side sends; `*` at its end matches any suffix.
pub(super) fn one_way(method: &str) -> Option<Direction> {
    let is_it = |(name, _): &&(&str, Direction)| match method.strip_suffix('*') {
        Some(begin) => name.ends_with('/') && begin.starts_with(name),
        None => method == *name || name.ends_with('/') && method.starts_with(name),
    };
    ONE_WAY.iter().find(is_it).map(|(_, dir)| *dir)
}

/// Whether a method can be a request's and a notification's. MCP's own methods are certain; others
/// may be either.
fn natures(method: &str) -> [bool; 2] {
    if method.starts_with(NOTIFICATIONS) {
        return [false, true];
    }
    let known = one_way(method).is_some() || method == "ping" || method.starts_with("tasks/");
    [true, !known]
}

impl Selector {
    /// The methods that a message must have to match, all of them, each with the selector word that
    /// requires it; the word is empty for the default.
    pub(super) fn methods(&self) -> Vec<(&str, &str)> {
        let names = [
            ("tool", &self.tool, "tools/call"),
            ("resource", &self.resource, "resources/read"),
            ("prompt", &self.prompt, "prompts/get"),
        ];
        let names = names.into_iter().filter(|(_, name, _)| name.is_some());
        let names = names.map(|(word, _, method)| (word, method));
        let method = self.method.as_deref().map(|method| ("method", method));
        let mut all: Vec<_> = method.into_iter().chain(names).collect();
        if all.is_empty() {
            all.push(("", "tools/call"));
        }
        let pointed = self.equals.iter().filter(|(place, _)| place == "/method");
        // Names of methods have no escapes.
        all.extend(pointed.map(|(place, value)| (place.as_str(), value.trim_matches('"'))));
        all
    }

    /// The kinds of messages that can match.
    pub(super) fn sorts(&self) -> Vec<ExpectedMessage> {
        let mut sorts = ExpectedMessage::all();
        sorts.retain(|sort| self.dir.is_none_or(|dir| dir == sort.dir));
        for (_, method) in self.methods() {
            let [request, notification] = natures(method);
            sorts.retain(|sort| {
                one_way(method).is_none_or(|dir| dir == sort.dir)
                    && if sort.is_request {
                        request
                    } else {
                        notification
                    }
            });
        }
        sorts
    }

    /// Whether it only matches requests of clients.
    pub(super) fn is_of_client_requests(&self) -> bool {
        let of_client = |sort: &ExpectedMessage| sort.is_request && sort.dir == Direction::ToServer;
        self.sorts().iter().all(of_client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_tell_which_way_they_travel() {
        let (server, client) = (Some(Direction::ToServer), Some(Direction::ToClient));
        for (method, way) in [
            ("tools/call", server),
            ("tools/*", server),
            ("tools*", None),
            ("*", None),
            ("initialize", server),
            ("initialize*", None),
            ("sampling/createMessage", client),
            ("notifications/message", client),
            ("notifications/messages", None),
            ("notifications/progress", None),
            ("notifications/tasks/status", None),
            ("ping", None),
            ("tasks/get", None),
        ] {
            assert_eq!(one_way(method), way, "{method}");
        }
    }

    #[test]
    fn what_can_be_met_follows_from_the_words() {
        let sorts = |method: &str, dir| {
            let method = Some(method.to_owned());
            let selector = Selector {
                method,
                dir,
                ..Selector::default()
            };
            let sorts = selector.sorts().into_iter();
            let sorts = sorts.map(|sort| (sort.dir == Direction::ToServer, sort.is_request));
            sorts.collect::<Vec<_>>()
        };
        assert_eq!(sorts("tools/list", None), [(true, true)]);
        assert_eq!(sorts("ping", None), [(true, true), (false, true)]);
        assert_eq!(
            sorts("notifications/*", Some(Direction::ToClient)),
            [(false, false)]
        );
        assert_eq!(
            sorts("vendor/event", Some(Direction::ToServer)),
            [(true, true), (true, false)]
        );
        assert_eq!(sorts("*", None).len(), 4);
        assert!(Selector::default().is_of_client_requests());
    }
}
