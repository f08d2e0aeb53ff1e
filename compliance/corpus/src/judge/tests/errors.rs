//! Expectations about an error other than its code.

use serde_json::{Value, json};

use super::{answered, breaks, holds, over_http, untested};
use crate::observation::Reply;
use crate::verdict::{Expectation, Untested};

#[test]
fn the_data_of_an_error_is_looked_into() {
    let data = json!({ "supported": ["2026-07-28"], "requested": "2099-01-01", "more": 1 });
    let seen = |data: Option<&Value>| {
        let mut error = json!({ "code": -32022, "message": "there is no such revision" });
        if let Some(data) = data {
            error["data"] = data.clone();
        }
        answered(Reply::Error(error))
    };
    let wanted = json!({ "error": {
        "code": -32022, "message": "there is no such revision", "data": { "requested": "2099-01-01" },
        "schema": { "required": ["data"], "properties": { "data": { "required": ["supported"], "properties": {
            "supported": { "type": "array", "items": { "type": "string" }, "minItems": 1 } } } } },
    } });
    holds(&wanted, &seen(Some(&data)));
    let place = |data: Option<Value>| breaks(&wanted, &seen(data.as_ref()));
    assert_eq!(place(None), (Expectation::Error, "/data".to_owned()));
    assert_eq!(place(Some(json!("none"))).1, "/data");
    assert_eq!(place(Some(json!({ "requested": 7 }))).1, "/data/requested");
    let other = json!({ "requested": "2099-01-01", "supported": [7] });
    assert_eq!(place(Some(other)).1, "/data/supported/0");
    let message = json!({ "error": { "message": "there is no such" } });
    assert_eq!(breaks(&message, &seen(None)).1, "/message");
    // Without a body there is no data, and an unreadable one is inconclusive.
    let status = over_http(400, &[], answered(Reply::None));
    let only = json!({ "error": { "data": { "requested": "2099-01-01" } } });
    assert_eq!(breaks(&only, &status).0, Expectation::Answer);
    assert_eq!(
        untested(&only, &answered(Reply::Unreadable)),
        Untested::TooMuch
    );
    let shape = json!({ "error": { "schema": { "required": ["code", "message"] } } });
    assert!(matches!(
        untested(&shape, &status),
        Untested::Inconclusive(_)
    ));
    let elsewhere = json!({ "error": { "schema": { "$ref": "https://example.invalid/schema" } } });
    assert_eq!(untested(&elsewhere, &seen(Some(&data))), Untested::TooMuch);
}
