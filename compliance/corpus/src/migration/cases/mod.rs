//! The thirteen cases of 2026-07-28.

mod application_type;
mod credentials;
mod deprecated;
mod discover;
mod error_code;
mod headers;
mod iss;
mod schema;
mod session_id;
mod tasks;

use super::case::Case;

pub(crate) use self::error_code::LEGACY_ERROR_CODE;

/// Every case, in the order of reports.
pub static CASES: &[&Case] = &[
    &session_id::SESSION_ID,
    &discover::DISCOVER,
    &headers::HEADERS,
    &tasks::LIST,
    &tasks::EXPERIMENTAL,
    &deprecated::ROOTS,
    &deprecated::SAMPLING,
    &deprecated::LOGGING,
    &iss::ISS,
    &application_type::APPLICATION_TYPE,
    &credentials::CREDENTIALS,
    &LEGACY_ERROR_CODE,
    &schema::SCHEMA,
];

/// The revision that all cases are about.
const TARGET: &str = "2026-07-28";
