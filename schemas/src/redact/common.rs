//! Which secret values of the environment can be distinguished from ordinary words, and therefore
//! how far each may reach.
//!
//! `POSTGRES_PASSWORD=password` means that the value `password` is a secret, but not the member
//! name, the method or the sentence with the same letters.

/// Where a secret value is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Only where it is a whole value: a string, a number, the value of a header, an argument.
    Whole,
    /// Also inside values, between the edges of words.
    Words,
    /// Everywhere, also in names and inside longer words.
    Anywhere,
}

/// How far a value reaches; `None` if it would be found everywhere and is not useful.
pub(super) fn reach(value: &str) -> Option<Reach> {
    let digits = |one: &str| {
        one.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let never = value.len() < SHORTEST_VALUE
        || value.len() < SHORTEST_NUMBER && digits(value)
        || NEVER.iter().any(|word| value.eq_ignore_ascii_case(word));
    if never {
        return None;
    }
    Some(if value.len() < SHORTEST_INSIDE || is_common(value) {
        Reach::Whole
    } else if is_plain(value) {
        Reach::Words
    } else {
        Reach::Anywhere
    })
}

/// Whether all parts of a value are ordinary words, dates or version numbers.
fn is_common(value: &str) -> bool {
    let mut parts = value.split(SEPARATORS).filter(|part| !part.is_empty());
    value.len() < LONGEST_COMMON && parts.all(|part| is_number(part) || is_word(part))
}

/// A group of digits in a date, a version, a port.
fn is_number(part: &str) -> bool {
    part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// A word of the protocol, or one that people write for a password.
fn is_word(part: &str) -> bool {
    WORDS.iter().any(|word| part.eq_ignore_ascii_case(word))
}

/// Whether a value could be a word or a name: only letters, or only digits.
fn is_plain(value: &str) -> bool {
    let humps = value
        .as_bytes()
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let letters = value.split(SEPARATORS).all(is_letters) && humps.count() <= MOST_HUMPS;
    value.bytes().all(|byte| byte.is_ascii_digit()) || letters && value.len() < LONGEST_COMMON
}

fn is_letters(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Separators that join words to names, methods, dates and addresses.
const SEPARATORS: [char; 6] = ['_', '-', '.', '/', ':', ' '];

/// Values that mean that there is no secret.
#[rustfmt::skip]
const NEVER: &[&str] = &[
    "true", "false", "yes", "none", "null", "undefined", "default", "disabled", "enabled", "unset", "empty",
];

/// Words that occur in names of members, methods and kinds in messages, and those that people write
/// where a password is requested. A short one is only relevant next to others: on its own it is too
/// short anyway.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    // Names of members (2024-11-05 to 2026-07-28, schema), in words.
    "additionalProperties", "annotations", "argument", "arguments", "assistant", "audience", "capabilities",
    "cancelled", "cancellation", "cancelledAt", "client", "clientInfo", "completion", "completions", "content",
    "contents", "costPriority", "createMessage", "createdAt", "definitions", "description", "destructive",
    "destructiveHint", "discover", "elicitation", "elicitationId", "enumNames", "exclusiveMaximum", "exclusiveMinimum",
    "experimental", "extensions", "idempotent", "idempotentHint", "includeContext", "initialize", "initialized",
    "inputRequests", "inputResponses", "inputSchema", "instructions", "intelligence", "intelligencePriority",
    "isError", "lastModified", "lastUpdatedAt", "listChanged", "logging", "maxItems", "maxLength", "maxTokens",
    "maximum", "message", "messages", "metadata", "mimeType", "minItems", "minLength", "minimum", "modelPreferences",
    "nextCursor", "notification", "notifications", "openWorldHint", "outputSchema", "parameter", "parameters",
    "patternProperties", "pollInterval", "priority", "progress", "progressToken", "promptsListChanged", "properties",
    "protocol", "protocolVersion", "readOnlyHint", "reference", "relatedTask", "requestId", "requestState",
    "requested", "requestedSchema", "required", "resource", "resourceSubscriptions", "resourceTemplates", "resource_link",
    "resources", "resourcesListChanged", "response", "resultType", "sampling", "serverInfo", "speedPriority", "stateless",
    "statusMessage", "stopReason", "stopSequences", "structured", "structuredContent", "subscribe", "subscribed",
    "subscription", "subscriptions", "supported", "supportedVersions", "systemPrompt", "taskSupport", "temperature",
    "templates", "thinking", "toolChoice", "toolUseId", "tool_result", "toolsListChanged", "uniqueItems", "unsubscribe",
    "unevaluatedProperties", "uriTemplate", "websiteUrl",
    "audio", "call", "cancel", "changed", "complete", "create", "created", "cursor", "delete", "elicit", "error", "get",
    "image", "input", "json", "level", "link", "list", "output", "ping", "prompt", "prompts", "read", "ref", "remove",
    "request", "result", "results", "role", "root", "roots", "schema", "server", "session", "set", "setLevel", "status",
    "task", "tasks", "text", "title", "tool", "tools", "type", "update", "updated", "uri", "use", "user", "value", "write",
    // Words that people write for a password, and similar ones.
    "admin", "app", "data", "db", "demo", "dev", "example", "guest", "host", "local", "login", "main", "my", "name", "pass",
    "prod", "secret", "service", "test", "tests", "web",
    "administrator", "changeme", "changeit", "container", "credential", "credentials", "database", "developer",
    "development", "elasticsearch", "function", "localhost", "mariadb", "minioadmin", "mongodb", "mypassword",
    "passphrase", "password", "passwords", "postgres", "postgresql", "production", "rabbitmq", "redispassword",
    "rootpassword", "secretkey", "secretpassword", "staging", "superuser", "supersecret", "testpassword", "undefined",
    "username", "userpassword", "password1", "password123", "token", "application", "environment", "integration",
    "repository", "organization", "workspace", "filesystem", "directory", "document", "documents", "location",
    "language", "calendar", "customer", "template", "transport", "generate", "validate", "sequential",
];

/// Shorter values of the environment are ignored.
const SHORTEST_VALUE: usize = 3;
/// Shorter numbers are ids, ports and counts.
const SHORTEST_NUMBER: usize = 6;
/// Shorter values only count if they are a whole value.
const SHORTEST_INSIDE: usize = 8;
/// Nothing of this length is a word by chance, or a name that a protocol would use.
const LONGEST_COMMON: usize = 40;
/// `unevaluatedProperties` has one.
const MOST_HUMPS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_protocol_are_whole_values_only() {
        for value in [
            "password",
            "Password",
            "tools",
            "result",
            "method",
            "params",
            "description",
            "inputSchema",
            "protocolVersion",
            "notifications/initialized",
            "resources/templates/list",
            "tools/call",
            "notifications/resources/list_changed",
            "2025-11-25",
            "additionalProperties",
            "blue",
            "abc",
            "my-secret",
            "dev/db/password",
            "hunter2",
            "123456",
            "postgres",
            "localhost:5432",
            "127.0.0.1:8080",
            "test-user-name",
            "password123",
        ] {
            assert_eq!(reach(value), Some(Reach::Whole), "{value}");
        }
    }

    #[test]
    fn other_words_stand_between_edges() {
        for value in [
            "qwkzjxhv",
            "heronblue",
            "correct-horse-battery",
            "12345678",
            "correct horse battery staple",
        ] {
            assert_eq!(reach(value), Some(Reach::Words), "{value}");
        }
    }

    #[test]
    fn what_no_word_looks_like_is_found_anywhere() {
        for value in [
            "hunter22x",
            "hunter2hunter2",
            "corr\"ect horse",
            "Tr0ub4dor&3",
            "aKqZpWbXlR",
            "s3cr3t-v4lue",
            "correct horse battery staple and so on, and so on",
        ] {
            assert_eq!(reach(value), Some(Reach::Anywhere), "{value}");
        }
    }

    #[test]
    fn what_is_everywhere_is_nothing() {
        for value in [
            "", "ab", "true", "FALSE", "none", "1234", "12345", "1.2.3", "default",
        ] {
            assert_eq!(reach(value), None, "{value}");
        }
    }
}
