//! The words that make a name secret, and those that make it harmless.
//!
//! All words are in lower case; [`super::names`] splits names into words.

/// The kind of `pwd`, which names a password or, in every shell, the working folder. The
/// value decides.
pub(super) const WORKING_FOLDER_OR_PASSWORD: &str = "pwd";

/// Words that are secret anywhere in a name.
pub(super) const STRONG: &[(&str, &str)] = &[
    ("apikey", "api-key"),
    ("apikeys", "api-key"),
    ("credential", "credential"),
    ("credentials", "credential"),
    ("creds", "credential"),
    ("passcode", "password"),
    ("passphrase", "password"),
    ("passwd", "password"),
    ("password", "password"),
    ("passwords", "password"),
    ("passwort", "password"),
    ("mnemonic", "secret"),
    ("pwd", WORKING_FOLDER_OR_PASSWORD),
    ("secret", "secret"),
    ("secrets", "secret"),
];

/// Words that are secret at the end of a name, and suspicious elsewhere in it.
pub(super) const STRONG_AT_END: &[(&str, &str)] = &[
    ("authorization", "authorization"),
    ("bearer", "bearer-token"),
    ("cookie", "cookie"),
    ("cookies", "cookie"),
    ("cvc", "payment"),
    ("cvv", "payment"),
    ("cvv2", "payment"),
    ("dsn", "connection-string"),
    ("jwt", "token"),
    ("otp", "otp"),
    ("pat", "token"),
    ("ssn", "ssn"),
    ("token", "token"),
    ("totp", "otp"),
];

/// Endings of names that are written as one word, such as `pgpassword`.
pub(super) const ENDINGS: &[(&str, &str)] = &[
    ("accesskey", "access-key"),
    ("accesstoken", "token"),
    ("apikey", "api-key"),
    ("apitoken", "token"),
    ("authtoken", "token"),
    ("bearertoken", "token"),
    ("connectionstring", "connection-string"),
    ("encryptionkey", "secret-key"),
    ("passphrase", "password"),
    ("passwd", "password"),
    ("password", "password"),
    ("privatekey", "private-key"),
    ("refreshtoken", "token"),
    ("secret", "secret"),
    ("secretkey", "secret-key"),
    ("sessionid", "session-id"),
    ("sessionkey", "session-id"),
    ("sessiontoken", "session-id"),
    ("signingkey", "secret-key"),
];

/// Two words that are secret together. `*` as the first matches any of [`KEY_OWNERS`].
pub(super) const PAIRS: &[(&str, &str, &str)] = &[
    ("auth", "code", "otp"),
    ("backup", "code", "otp"),
    ("backup", "codes", "otp"),
    ("client", "assertion", "token"),
    ("code", "verifier", "secret"),
    ("conn", "str", "connection-string"),
    ("connection", "string", "connection-string"),
    ("mfa", "code", "otp"),
    ("pass", "code", "password"),
    ("pass", "phrase", "password"),
    ("pass", "word", "password"),
    ("pin", "code", "otp"),
    ("recovery", "code", "otp"),
    ("recovery", "codes", "otp"),
    ("recovery", "phrase", "secret"),
    ("secret", "id", "secret"),
    ("security", "answer", "secret"),
    ("security", "code", "otp"),
    ("seed", "phrase", "secret"),
    ("session", "cookie", "session-id"),
    ("session", "id", "session-id"),
    ("session", "key", "session-id"),
    ("session", "token", "session-id"),
    ("verification", "code", "otp"),
];

/// Words that make a following `key` or `keys` secret.
pub(super) const KEY_OWNERS: &[(&str, &str)] = &[
    ("access", "access-key"),
    ("account", "secret-key"),
    ("admin", "secret-key"),
    ("aes", "secret-key"),
    ("anthropic", "api-key"),
    ("api", "api-key"),
    ("app", "api-key"),
    ("application", "api-key"),
    ("auth", "secret-key"),
    ("azure", "api-key"),
    ("cohere", "api-key"),
    ("consumer", "api-key"),
    ("datadog", "api-key"),
    ("decryption", "secret-key"),
    ("deepseek", "api-key"),
    ("deploy", "secret-key"),
    ("encryption", "secret-key"),
    ("functions", "api-key"),
    ("gemini", "api-key"),
    ("github", "api-key"),
    ("gitlab", "api-key"),
    ("gpg", "private-key"),
    ("groq", "api-key"),
    ("hmac", "secret-key"),
    ("integration", "api-key"),
    ("licence", "secret-key"),
    ("license", "secret-key"),
    ("master", "secret-key"),
    ("mistral", "api-key"),
    ("openai", "api-key"),
    ("openrouter", "api-key"),
    ("pgp", "private-key"),
    ("private", "private-key"),
    ("rsa", "private-key"),
    ("secret", "secret-key"),
    ("sendgrid", "api-key"),
    ("service", "secret-key"),
    ("shared", "secret-key"),
    ("signing", "secret-key"),
    ("ssh", "private-key"),
    ("storage", "secret-key"),
    ("stripe", "api-key"),
    ("subscription", "api-key"),
    ("supabase", "api-key"),
    ("twilio", "api-key"),
    ("wallet", "private-key"),
];

/// Words that make a following `pass` a password.
#[rustfmt::skip]
pub(super) const PASS_OWNERS: &[&str] = &[
    "account", "admin", "auth", "basic", "database", "db", "email", "ftp", "http", "imap", "ldap", "login",
    "mail", "mongo", "mysql", "pg", "postgres", "proxy", "rabbitmq", "redis", "root", "smtp", "ssh", "user",
];

/// Last words whose value is a secret only if it looks like one.
pub(super) const WEAK_AT_END: &[(&str, &str)] = &[
    ("auth", "credential"),
    ("authentication", "credential"),
    ("hmac", "signature"),
    ("pass", "password"),
    ("pin", "otp"),
    ("pw", "password"),
    ("session", "session-id"),
    ("sig", "signature"),
    ("signature", "signature"),
];

/// A `token` after one of these is data: a cursor, a mark of the protocol, a unit of text.
#[rustfmt::skip]
pub(super) const HARMLESS_TOKENS: &[&str] = &[
    "bos", "cancel", "cancellation", "change", "cls", "completion", "continuation", "cursor", "delta", "done",
    "end", "eos", "expected", "first", "illegal", "input", "last", "lex", "mask", "max", "min", "next", "num",
    "output", "pad", "page", "pagination", "paging", "partial", "per", "prev", "previous", "progress", "prompt",
    "resume", "result", "semantic", "sep", "skip", "special", "start", "stop", "sync", "syntax", "total",
    "unexpected", "unk", "watch",
];

/// `tokens` are units of text, except after one of these.
pub(super) const TOKENS_OWNERS: &[&str] = &[
    "access", "api", "auth", "bearer", "id", "oauth", "personal", "refresh", "security", "session",
];

/// Last words that make a name talk about a secret instead of holding it.
#[rustfmt::skip]
pub(super) const DESCRIPTORS: &[&str] = &[
    "age", "alg", "algorithm", "arn", "at", "attempts", "attribute", "audience", "autocomplete", "budget",
    "changed", "class", "column", "cost", "count", "counts", "created", "css", "date", "days", "desc",
    "description", "dir", "directory", "disabled", "domain", "element", "email", "enabled", "endpoint", "endpoints",
    "env", "error", "errors", "exists", "expiration", "expired", "expires", "expiry", "field", "fields", "file",
    "filename", "format", "forgot", "generator", "handler", "hasher", "hashers", "help", "hint", "hints", "hours", "httponly", "id",
    "ids", "index", "indices", "input", "issuer", "kind", "label", "labels", "len", "length", "lengths", "lifetime",
    "limit", "limits", "link", "location", "manager", "max", "maximum", "message", "metadata", "method", "methods",
    "min", "minimum", "minutes", "missing", "mode", "modified", "name", "names", "offset", "page", "param",
    "parameter", "path", "paths", "pattern", "placeholder", "policies", "policy", "position", "prefix", "price",
    "prompt", "protocol", "provider", "providers", "rate", "ref", "reference", "references", "regex", "remaining",
    "required", "requirement", "requirements", "reset", "rotation", "rule", "rules", "samesite", "scheme",
    "schemes", "scope", "scopes", "seconds", "secure", "selector", "server", "servers", "service", "size", "source",
    "state", "status", "store", "strategy", "strength", "style", "suffix", "support", "supported", "time",
    "timeout", "timestamp", "title", "total", "ttl", "type", "types", "updated", "uri", "uris", "url", "urls",
    "usage", "used", "valid", "validation", "validator", "validators", "var", "variable", "version", "versions", "visibility",
    "visible", "window",
];

/// First words of names that ask or state something about a secret.
#[rustfmt::skip]
pub(super) const ASKING: &[&str] = &[
    "allow", "allows", "can", "check", "disable", "enable", "forgot", "has", "have", "hide", "include", "invalid",
    "is", "missing", "need", "needs", "no", "require", "required", "requires", "should", "show", "supports", "use",
    "uses", "with", "without",
];

/// Member names whose values are maps from names to schemas.
pub(super) const SCHEMA_MAPS: &[&str] = &[
    "properties",
    "patternproperties",
    "$defs",
    "definitions",
    "dependentschemas",
];

/// Members of a schema that contain a value instead of describing it.
pub(super) const SCHEMA_VALUES: &[&str] =
    &["const", "default", "example", "examples", "value", "values"];

/// Members whose values are words of the protocol, or names and numbers that identify its parts
/// (2024-11-05 to 2026-07-28, schema): they never contain a secret of the environment.
#[rustfmt::skip]
pub(super) const PROTOCOL_WORDS: &[&str] = &[
    "action", "audience", "id", "jsonrpc", "level", "listChanged", "logger", "method", "mimeType", "mode", "name",
    "progressToken", "protocolVersion", "requestId", "resultType", "role", "status", "stopReason", "supported",
    "supportedVersions", "taskId", "taskSupport", "toolUseId", "type",
];

/// Members that contain the schema of a value.
pub(super) const SCHEMAS: &[&str] = &["inputSchema", "outputSchema", "requestedSchema"];

/// Members whose objects are not part of the protocol.
pub(super) const DATA: &[&str] = &["arguments", "data", "structuredContent"];

/// Members that identify an object as a schema, and contain no secret.
#[rustfmt::skip]
pub(super) const SCHEMA_WORDS: &[&str] = &[
    "$anchor", "$comment", "$id", "$ref", "$schema", "additionalproperties", "allof", "anyof", "contains",
    "contentencoding", "contentmediatype", "dependencies", "dependentrequired", "deprecated", "description", "else",
    "enum", "exclusivemaximum", "exclusiveminimum", "format", "if", "items", "markdowndescription", "maxitems",
    "maximum", "maxlength", "maxproperties", "minimum", "minitems", "minlength", "minproperties", "multipleof",
    "not", "nullable", "oneof", "pattern", "prefixitems", "propertynames", "readonly", "required", "then", "title",
    "type", "unevaluateditems", "unevaluatedproperties", "uniqueitems", "writeonly", "enumnames", "sensitive",
];

/// Members that name the contents of the member `value` of the same object.
pub(super) const PAIR_NAMES: &[&str] = &[
    "field",
    "header",
    "key",
    "name",
    "param",
    "parameter",
    "variable",
];

/// Members with the value that the member `name` of the same object names.
pub(super) const PAIR_VALUES: &[&str] = &["val", "value"];

/// Names of an authorization server's description of an error (RFC 6749 §5.2).
pub(super) const TOLD: &[&str] = &["error_description"];

/// Names of members with content in base64 (2025-11-25, server/resources §Binary Content).
pub(super) const BLOBS: &[&str] = &["blob"];

/// Values after a secret name in free text that describe a value instead of being one.
#[rustfmt::skip]
pub(super) const NOT_VALUES: &[&str] = &[
    "a", "an", "any", "array", "async", "auto", "await", "basic", "bearer", "blob", "bool", "boolean", "buffer", "byte", "bytes",
    "bytearray", "callable", "char", "const", "custom", "date", "default", "denied", "dict", "disabled", "double",
    "empty", "enabled", "env", "exists", "expired", "failed", "false", "field", "file", "float", "found", "function",
    "hidden", "if", "import", "incorrect", "int", "integer", "invalid", "is", "json", "jwt", "lambda", "let", "list", "literal", "map", "masked",
    "mismatch", "missing", "must", "never", "new", "nil", "no", "none", "not", "null", "number", "oauth", "oauth2", "object",
    "off", "ok", "on", "option", "optional", "present", "record", "redacted", "rejected", "required", "revoked", "self",
    "set", "static", "str", "string", "symbol", "text", "the", "this", "true", "tuple", "type", "typeof", "undefined", "union", "unknown",
    "unset", "uuid", "valid", "varchar", "vec", "void", "wrong", "yes", "yield", "your",
];
