//! Conversions from and to the values of `serde_json`, which suites and JSON Schemas use.

use serde_json::Value;

use super::Json;

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.to_string().into()),
            Value::String(text) => Self::String(text.clone()),
            Value::Array(elements) => Self::Array(elements.iter().map(Self::from).collect()),
            Value::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), Self::from(value)))
                    .collect(),
            ),
        }
    }
}

impl From<&Json> for Value {
    /// A number beyond 64 bits becomes the nearest float, as in most validators; one beyond the
    /// range of floats becomes the largest.
    fn from(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(text) => number(text),
            Json::String(text) => Self::String(text.clone()),
            Json::Array(elements) => Self::Array(elements.iter().map(Self::from).collect()),
            Json::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), Self::from(value)))
                    .collect(),
            ),
        }
    }
}

fn number(text: &str) -> Value {
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    if let Ok(whole) = text.parse::<u64>() {
        return whole.into();
    }
    let float = text.parse::<f64>().unwrap_or(0.0);
    float.clamp(f64::MIN, f64::MAX).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let value = serde_json::json!({"b": [1, -2, 0.5, "x", null, true], "a": {}});
        let json = Json::from(&value);
        assert_eq!(json.to_string(), value.to_string());
        assert_eq!(Value::from(&json), value);
        let huge = Value::from(&Json::Number("1e999".into()));
        assert_eq!(huge.as_f64(), Some(f64::MAX));
    }
}
