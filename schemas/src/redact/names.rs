//! Which names imply that their value is a secret.
//!
//! A name is split into words, whatever its style: `apiKey`, `API_KEY`, `x-api-key` and
//! `my.api.key` all contain the words `api` and `key`. Rules compare whole words, so `tokenizer`,
//! `monkey` and `secretary` do not match.

use super::placeholders;
use super::vocabulary as words;

use crate::slices::Part as _;

/// What a name implies about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing.
    Open,
    /// A secret if the value looks like one.
    Weak,
    /// A secret.
    Secret,
}

/// What a member name means when walking a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Other,
    /// The value maps names to schemas.
    SchemaMap,
    /// A value that a schema gives.
    SchemaValue,
    /// A description that a schema gives.
    SchemaWord,
    /// Names the value of a pair.
    PairName,
    /// The value of a pair.
    PairValue,
    /// A text or other bytes in base64.
    Blob,
    /// The description of an error.
    Told,
}

/// The type of a value under a name, for the secret values of the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Area {
    /// The same as its surroundings.
    #[default]
    Same,
    /// A word of the protocol.
    Word,
    /// The schema of a value, which only contains words.
    Schema,
    /// Data that peers exchange: values, whatever the names in it.
    Data,
}

/// The known meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) class: Class,
    pub(super) role: Role,
    pub(super) kind: &'static str,
    /// A number under this name is a quantity.
    pub(super) numbers_are_data: bool,
    pub(super) area: Area,
}

impl Name {
    pub(super) const NONE: Self = Self {
        class: Class::Open,
        role: Role::Other,
        kind: "",
        numbers_are_data: false,
        area: Area::Same,
    };

    fn of(class: Class, kind: &'static str) -> Self {
        Self {
            class,
            kind,
            ..Self::NONE
        }
    }
}

/// Whether the name of a variable, header, argument or member implies that its value is a secret,
/// by the built-in rules.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    // The shell's working folder.
    if name == "PWD" {
        return false;
    }
    classify(name.as_bytes(), &[]).class == Class::Secret
}

/// Looks at a name. `custom` are the words of names that the user added.
pub(super) fn classify(name: &[u8], custom: &[Vec<Vec<u8>>]) -> Name {
    let mut letters = [0; LONGEST_NAME];
    let words = Words::of(name, &mut letters);
    let mut found = by_words(words.as_slice());
    if custom
        .iter()
        .any(|custom| is_custom(custom, words.as_slice(), name))
    {
        found = Name::of(Class::Secret, "custom");
    }
    if found.class != Class::Open && !placeholders::spans(name).is_empty() {
        // This name contained a secret; the words are those of its placeholder.
        return Name::NONE;
    }
    found.role = role(name);
    found.area = area(name);
    found
}

/// The words of a user-defined name; the name itself if it has none.
pub(super) fn custom_words(name: &str) -> Vec<Vec<u8>> {
    let mut letters = [0; LONGEST_NAME];
    let words = Words::of(name.as_bytes(), &mut letters);
    if words.as_slice().is_empty() {
        return vec![name.as_bytes().to_vec()];
    }
    words.as_slice().iter().map(|word| word.to_vec()).collect()
}

fn is_custom(custom: &[Vec<u8>], words: &[&[u8]], name: &[u8]) -> bool {
    if words.is_empty() {
        return custom.len() == 1 && custom.first().is_some_and(|custom| custom == name);
    }
    let Some(start) = words.len().checked_sub(custom.len()) else {
        return false;
    };
    let end = words.part(start..).iter();
    end.zip(custom).all(|(a, b)| a == b)
}

fn by_words(words: &[&[u8]]) -> Name {
    let mut best = Name::NONE;
    for at in 0..words.len() {
        let Some((name, end)) = secret_at(words, at) else {
            continue;
        };
        let last = words.last().copied().unwrap_or_default();
        if end < words.len() && has(words::DESCRIPTORS, last) {
            return Name::NONE;
        }
        let asked = at > 0 && words.first().is_some_and(|first| has(words::ASKING, first));
        let name = if asked {
            Name {
                class: Class::Weak,
                ..name
            }
        } else {
            name
        };
        if name.class == Class::Secret {
            return name;
        }
        best = name;
    }
    best
}

/// The secret whose words start at `at`, and where they end.
fn secret_at(words: &[&[u8]], at: usize) -> Option<(Name, usize)> {
    let word = *words.get(at)?;
    let next = words.get(at + 1).copied().unwrap_or_default();
    let before = at
        .checked_sub(1)
        .and_then(|at| words.get(at))
        .copied()
        .unwrap_or_default();
    if let Some((kind, mut end)) = pair(word, next).map(|kind| (kind, at + 2)) {
        if next == b"key" && words.get(end).copied() == Some(b"id") && word == b"access" {
            end += 1;
        }
        return Some((Name::of(Class::Secret, kind), end));
    }
    if word == b"tokens" {
        let name = Name {
            numbers_are_data: true,
            ..Name::of(Class::Secret, "token")
        };
        return has(words::TOKENS_OWNERS, before).then_some((name, at + 1));
    }
    if word == b"token" && has(words::HARMLESS_TOKENS, before) {
        return None;
    }
    if word == b"pass" && has(words::PASS_OWNERS, before) {
        return Some((Name::of(Class::Secret, "password"), at + 1));
    }
    let last = at + 1 == words.len();
    if let Some(kind) = kind_of(words::STRONG, word) {
        return Some((Name::of(Class::Secret, kind), at + 1));
    }
    if let Some(kind) = kind_of(words::STRONG_AT_END, word) {
        let class = if last || next == b"value" {
            Class::Secret
        } else {
            Class::Weak
        };
        return Some((Name::of(class, kind), at + 1));
    }
    if let Some((_, kind)) = words::ENDINGS
        .iter()
        .find(|(end, _)| word.ends_with(end.as_bytes()))
    {
        return Some((Name::of(Class::Secret, kind), at + 1));
    }
    if last && let Some(kind) = kind_of(words::WEAK_AT_END, word) {
        return Some((Name::of(Class::Weak, kind), at + 1));
    }
    None
}

fn pair(word: &[u8], next: &[u8]) -> Option<&'static str> {
    if matches!(next, b"key" | b"keys")
        && let Some(kind) = kind_of(words::KEY_OWNERS, word)
    {
        return Some(kind);
    }
    let same = |(first, second, _): &&(&str, &str, &str)| {
        first.as_bytes() == word && second.as_bytes() == next
    };
    words::PAIRS.iter().find(same).map(|(_, _, kind)| *kind)
}

fn role(name: &[u8]) -> Role {
    let mut letters = [0; 24];
    let Some(lower) = letters.get_mut(..name.len()) else {
        return Role::Other;
    };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let lower = &*lower;
    let lists = [
        (words::SCHEMA_MAPS, Role::SchemaMap),
        (words::PAIR_NAMES, Role::PairName),
        (words::PAIR_VALUES, Role::PairValue),
        (words::BLOBS, Role::Blob),
        (words::SCHEMA_VALUES, Role::SchemaValue),
        (words::SCHEMA_WORDS, Role::SchemaWord),
        (words::TOLD, Role::Told),
    ];
    let found = lists
        .iter()
        .find(|(list, _)| has(list, lower))
        .map(|(_, role)| *role);
    match found {
        None if lower.starts_with(b"x-") => Role::SchemaWord,
        found => found.unwrap_or(Role::Other),
    }
}

/// Names of the protocol have only one spelling.
fn area(name: &[u8]) -> Area {
    if has(words::PROTOCOL_WORDS, name) {
        Area::Word
    } else if has(words::SCHEMAS, name) {
        Area::Schema
    } else if has(words::DATA, name) {
        Area::Data
    } else {
        Area::Same
    }
}

fn has(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|known| known.as_bytes() == word)
}

fn kind_of(list: &[(&'static str, &'static str)], word: &[u8]) -> Option<&'static str> {
    list.iter()
        .find(|(known, _)| known.as_bytes() == word)
        .map(|(_, kind)| *kind)
}

/// The words of a name, in lower case and without digits at their ends.
struct Words<'l> {
    list: [&'l [u8]; MOST_WORDS],
    len: usize,
}

impl<'l> Words<'l> {
    fn of(name: &[u8], letters: &'l mut [u8; LONGEST_NAME]) -> Self {
        // The end of a long name determines its meaning.
        let name = name.part(name.len().saturating_sub(LONGEST_NAME)..);
        let letters: &'l mut [u8] = letters;
        let (copy, _) = letters.split_at_mut(name.len());
        copy.copy_from_slice(name);
        copy.make_ascii_lowercase();
        let copy: &'l [u8] = copy;
        let mut words = Self {
            list: [&[]; MOST_WORDS],
            len: 0,
        };
        let mut start = 0;
        for at in 0..=name.len() {
            let byte = name.get(at).copied().unwrap_or(b' ');
            let word = is_word_byte(byte);
            if at > start && (!word || is_hump(name, at)) {
                words.push(copy.part(start..at));
                start = at;
            }
            if !word {
                start = at + 1;
            }
        }
        words
    }

    fn push(&mut self, word: &'l [u8]) {
        let plain = word
            .iter()
            .rposition(|byte| !byte.is_ascii_digit())
            .map_or(0, |last| last + 1);
        let word = word.part(..plain);
        if word.is_empty() {
            return;
        }
        if self.len == MOST_WORDS {
            self.list.copy_within(1.., 0);
            self.len -= 1;
        }
        if let Some(slot) = self.list.get_mut(self.len) {
            *slot = word;
            self.len += 1;
        }
    }

    fn as_slice(&self) -> &[&'l [u8]] {
        self.list.part(..self.len)
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Whether a change of case at `at` starts a word: `api|Key`, `API|Key`, `oauth2|Token`.
fn is_hump(name: &[u8], at: usize) -> bool {
    let byte = |at: usize| name.get(at).copied().unwrap_or_default();
    if !byte(at).is_ascii_uppercase() {
        return false;
    }
    !byte(at - 1).is_ascii_uppercase() || byte(at + 1).is_ascii_lowercase()
}

const LONGEST_NAME: usize = 128;
const MOST_WORDS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str) -> Class {
        classify(name.as_bytes(), &[]).class
    }

    #[test]
    fn secret_names_in_every_style() {
        for name in "password Password PASSWORD userPassword user_password user-password \
             user.password passwd pwd passphrase passcode passWord secret secrets \
             SecretString token authToken auth_token AUTH_TOKEN OAuthToken oauth2Token \
             authorization Proxy-Authorization cookie Set-Cookie credential credentials \
             api_key apikey apiKey APIKey API_KEY x-api-key X-Goog-Api-Key OPENAI_API_KEY \
             OPENAI_KEY openaiApiKey private_key privateKey access_key AWS_SECRET_ACCESS_KEY \
             aws_access_key_id secret_key signing_key encryption_key client_secret \
             clientSecret CLIENTSECRET session_id sessionId Mcp-Session-Id session_key \
             connection_string ConnectionString bearer otp PGPASSWORD MYSQL_PWD db_pass \
             password2 api_key_2 jwt csrfToken client_token secret_value \
             password_confirmation smtp.password X-Amz-Security-Token AccountKey \
             access_tokens _authToken npm_config__authToken token_value"
            .split(' ')
        {
            assert_eq!(class(name), Class::Secret, "{name}");
        }
    }

    #[test]
    fn harmless_names() {
        for name in "tokenizer max_tokens maxTokens tokens token_count tokenCount token_type \
             primary_key sort_key key keys progressToken nextPageToken pageToken nextToken \
             continuationToken syncToken cancellationToken nextCursor cursor secretary \
             password_policy password_length passwordMin password_url password_hint \
             password_field tokenUrl token_endpoint public_key keyboard author authority \
             cookie_policy monkey authorization_servers bearer_methods_supported \
             token_endpoint_auth_methods_supported client_secret_expires_at prompt_tokens \
             total_tokens passed compass bypass partition_key foreign_key cache_key \
             SecretName secretArn cookieDomain partialResultToken workDoneToken  - 0 \
             passport tokenize keyPath session author_id"
            .split(' ')
        {
            assert_ne!(class(name), Class::Secret, "{name}");
        }
    }

    #[test]
    fn some_names_depend_on_the_value() {
        for name in [
            "auth",
            "signature",
            "X-Amz-Signature",
            "pin",
            "pass",
            "has_password",
            "tokenBucket",
            "sig",
        ] {
            assert_eq!(class(name), Class::Weak, "{name}");
        }
    }

    #[test]
    fn added_names_are_compared_by_words() {
        let custom = [custom_words("internalRef"), custom_words("$$")];
        for name in [
            "internal_ref",
            "INTERNAL-REF",
            "InternalRef",
            "my.internal.ref",
            "$$",
        ] {
            assert_eq!(
                classify(name.as_bytes(), &custom).class,
                Class::Secret,
                "{name}"
            );
        }
        for name in [
            "internal",
            "ref",
            "internal_reference",
            "internalRefName",
            "$",
        ] {
            assert_eq!(
                classify(name.as_bytes(), &custom).class,
                Class::Open,
                "{name}"
            );
        }
    }

    #[test]
    fn long_names_are_judged_by_their_end() {
        assert_eq!(
            class(&format!("{}_password", "a_".repeat(500))),
            Class::Secret
        );
        assert_eq!(class(&"password_".repeat(5_000)), Class::Secret);
    }
}
