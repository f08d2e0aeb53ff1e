//! The detectors of detect-secrets, by the names of their files, as of 1.5.

use super::Caught::{self, ByName, ByPlace, ByShape, Not};

/// Its rules, and what catches the secrets of each.
#[rustfmt::skip]
pub(crate) const RULES: &[(&str, Caught)] = &[
    ("artifactory", ByShape("jfrog-token")),
    ("aws", ByShape("aws-access-key-id")),
    ("azure_storage_key", ByName("AccountKey")),
    ("basic_auth", ByPlace("https://bob:{}@x.example/")),
    ("cloudant", ByName("CLOUDANT_API_KEY")),
    ("discord", ByShape("discord-bot-token")),
    ("github_token", ByShape("github-token")),
    ("gitlab_token", ByShape("gitlab-token")),
    ("high_entropy_strings", Not("entropy alone is no sign: cursors, hashes and ids of a recording look the same")),
    ("ibm_cloud_iam", ByName("IBM_CLOUD_API_KEY")),
    ("ibm_cos_hmac", ByName("cos_hmac_secret_access_key")),
    ("ip_public", Not("an address is no secret")),
    ("jwt", ByShape("jwt")),
    ("keyword", ByName("password")),
    ("mailchimp", ByShape("mailchimp-api-key")),
    ("npm", ByShape("npm-token")),
    ("openai", ByShape("openai-api-key")),
    ("private_key", ByShape("private-key")),
    ("pypi_token", ByShape("pypi-token")),
    ("sendgrid", ByShape("sendgrid-api-key")),
    ("slack", ByShape("slack-token")),
    ("softlayer", ByName("SOFTLAYER_API_KEY")),
    ("square_oauth", ByShape("square-token")),
    ("stripe", ByShape("stripe-key")),
    ("telegram_token", ByShape("telegram-bot-token")),
    ("twilio", ByShape("twilio-key")),
];
