//! Formats that belong to no single vendor, and stores of secrets.

use super::super::encoded::encoded_jwt;
use super::super::extent::{
    any, base64, basic, bearer, digit, digit_or_long, dotted, jwt, pem, upper, url64,
};
use super::super::places::{curl_user, dsn, netrc, oauth_code, pgpass};
use super::super::vendors::{one_password, ssws};
use super::super::{Extent, Shape};
use super::body;

pub(super) static SHAPES: &[Shape] = &[
    Shape {
        kind: "1password-secret-key",
        prefixes: &["A3-"],
        extent: Extent::Special(one_password),
        example: ("A3-", "ASWWYB-798JRY-LJVD4-23DC2-86TVM-H43EB"),
        docs: "https://support.1password.com/secret-key-security/",
        look_alike: "A3-PAPER-SIZE",
    },
    Shape {
        kind: "1password-token",
        prefixes: &["ops_eyJ"],
        extent: body(base64, 60, 2_048, any, false),
        example: (
            "ops_eyJ",
            "zaWduSW5BZGRyZXNzA1b2C3d4E5f6G7h8I9j0A1b2C3d4E5f6G7h8I9j0A1b2C3d4E5f6G7h8I9j0",
        ),
        docs: "https://developer.1password.com/docs/service-accounts/",
        look_alike: "ops_eyJson",
    },
    Shape {
        kind: "age-key",
        prefixes: &["AGE-SECRET-KEY-1"],
        extent: body(upper, 16, 128, any, true),
        example: ("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54"),
        docs: "https://github.com/FiloSottile/age",
        look_alike: "AGE-SECRET-KEY-2",
    },
    Shape {
        kind: "basic-auth",
        prefixes: &["Basic ", "basic ", "BASIC "],
        extent: Extent::Special(basic),
        example: ("Basic dXNlcjpo", "dW50ZXIyMg=="),
        docs: "https://www.rfc-editor.org/rfc/rfc7617",
        look_alike: "Basic authentication",
    },
    Shape {
        kind: "bearer-token",
        prefixes: &["Bearer ", "bearer ", "BEARER "],
        extent: Extent::Special(bearer),
        example: ("Bearer ", "A1b2C3d4E5f6G7h8I9j0"),
        docs: "https://www.rfc-editor.org/rfc/rfc6750",
        look_alike: "Bearer authentication",
    },
    Shape {
        kind: "doppler-token",
        prefixes: &[
            "dp.pt.",
            "dp.st.",
            "dp.ct.",
            "dp.sa.",
            "dp.scim.",
            "dp.audit.",
        ],
        extent: body(dotted, 16, 128, digit, false),
        example: ("dp.pt.", "A1b2C3d4E5f6G7h8I9j0A1b2C3d4E5f6G7h8I9j0"),
        docs: "https://docs.doppler.com/reference/auth-token-formats",
        look_alike: "dp.pt.width",
    },
    Shape {
        kind: "jwt",
        // Base64 of `{"`, `{ "`, `{` with a line feed and `[{"`.
        prefixes: &["eyJ", "eyAi", "ewog", "W3si"],
        extent: Extent::Special(jwt),
        example: (
            "eyJhbGciOiJIUzI1NiJ9.",
            "eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
        ),
        docs: "https://www.rfc-editor.org/rfc/rfc7519",
        look_alike: "eyJvZmZzZXQiOjEwMH0.eyJsaW1pdCI6MTB9",
    },
    Shape {
        kind: "jwt",
        // Base64 of `eyJ`.
        prefixes: &["ZXlK"],
        extent: Extent::Special(encoded_jwt),
        example: (
            "ZXlKaGJHY2lPaUpJVXpJMU5pSjku",
            "ZXlKemRXSWlPaUl4TWpNMEluMC5TZmxLeHdSSlNNZUtLRjJRVDQ=",
        ),
        docs: "https://www.rfc-editor.org/rfc/rfc7519",
        look_alike: "ZXlKb2Zmc2V0IjoxMDB9",
    },
    Shape {
        kind: "okta-token",
        prefixes: &["SSWS "],
        extent: Extent::Special(ssws),
        example: ("SSWS ", "00A1b2C3d4E5f6G7h8I9j0A1b2C3d4E5f6G7h8I9j0"),
        docs: "https://developer.okta.com/docs/guides/create-an-api-token/main/",
        look_alike: "SSWS authentication",
    },
    Shape {
        kind: "private-key",
        prefixes: &["-----BEGIN "],
        extent: Extent::Special(pem),
        example: (
            "-----BEGIN RSA PRIV",
            "ATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
        ),
        docs: "https://www.rfc-editor.org/rfc/rfc7468",
        look_alike: "-----BEGIN PUBLIC KEY-----",
    },
    Shape {
        kind: "vault-token",
        prefixes: &["hvs.", "hvb.", "hvr."],
        extent: body(url64, 16, 512, digit_or_long, true),
        example: ("hvs.", "CAESIA1b2C3d4E5f6G7h8I9j0"),
        docs: "https://developer.hashicorp.com/vault/docs/concepts/tokens",
        look_alike: "hvs.mount",
    },
    Shape {
        kind: "password",
        prefixes: &["curl ", "curl.exe "],
        extent: Extent::Special(curl_user),
        example: ("curl -s -u bob:hunter", "22 https://x.example/"),
        docs: "https://curl.se/docs/manpage.html",
        look_alike: "curl -u $USER:$PASSWORD https://x.example/",
    },
    Shape {
        kind: "url-password",
        prefixes: &["@tcp(", "@unix("],
        extent: Extent::Special(dsn),
        example: ("root:hunter", "22@tcp(127.0.0.1:3306)/db"),
        docs: "https://github.com/go-sql-driver/mysql",
        look_alike: "root:$PASSWORD@tcp(127.0.0.1:3306)/db",
    },
    Shape {
        kind: "password",
        prefixes: &["machine "],
        extent: Extent::Special(netrc),
        example: ("machine x.example login bob pass", "word hunter22"),
        docs: "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html",
        look_alike: "the machine said login first and password next",
    },
    Shape {
        kind: "password",
        // PostgreSQL, its poolers, and software with the same protocol.
        prefixes: &[
            ":5432:", ":5433:", ":5434:", ":5435:", ":5436:", ":5439:", ":6432:", ":6543:", ":*:",
        ],
        extent: Extent::Special(pgpass),
        example: ("db.example:5432:app:bob:hunter", "22"),
        docs: "https://www.postgresql.org/docs/current/libpq-pgpass.html",
        look_alike: "db.example:5432:app",
    },
    Shape {
        kind: "authorization-code",
        prefixes: &["?code=", "&code="],
        extent: Extent::Special(oauth_code),
        example: ("http://127.0.0.1/callback?code=", "hunter22a1&state=1"),
        docs: "https://www.rfc-editor.org/rfc/rfc6749",
        look_alike: "https://shop.example/?code=SUMMER26",
    },
];
