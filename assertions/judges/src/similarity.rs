//! The similarity of two texts, by their embeddings.

use serde_json::{Value, json};

/// Why two vectors cannot be compared. The embedding model failed, not the candidate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSimilarity {
    /// They have different numbers of dimensions.
    #[error("the vectors have {0} and {1} dimensions and cannot be compared")]
    Dimensions(usize, usize),
    /// A zero or empty vector has no direction.
    #[error("a vector is zero")]
    Zero,
    /// The numbers are too large or too small for a result.
    #[error("the numbers of a vector are out of range")]
    Range,
}

/// The cosine of the angle between two vectors, from -1 to 1: `a·b / (|a| |b|)`.
pub fn cosine(one: &[f64], other: &[f64]) -> Result<f64, NoSimilarity> {
    if one.len() != other.len() {
        return Err(NoSimilarity::Dimensions(one.len(), other.len()));
    }
    let (one, other) = (scaled(one)?, scaled(other)?);
    let dot = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    let cosine = dot(&one, &other) / (dot(&one, &one).sqrt() * dot(&other, &other).sqrt());
    // Rounding of the roots may exceed the range.
    Ok(cosine.clamp(-1.0, 1.0))
}

/// The vector scaled so that its largest number is 1, to keep squares in range.
fn scaled(vector: &[f64]) -> Result<Vec<f64>, NoSimilarity> {
    let largest = vector
        .iter()
        .fold(0.0, |most: f64, one| most.max(one.abs()));
    if vector.iter().any(|one| !one.is_finite()) {
        return Err(NoSimilarity::Range);
    }
    if largest == 0.0 {
        return Err(NoSimilarity::Zero);
    }
    Ok(vector.iter().map(|one| one / largest).collect())
}

/// The recorded form of a similarity, in place of a model's answer.
#[must_use]
pub fn write(similarity: f64) -> String {
    json!({"similarity": similarity}).to_string()
}

/// Reads the output of [`write()`]; `None` for anything else.
#[must_use]
pub fn read(text: &str) -> Option<f64> {
    let value: Value = serde_json::from_str(text).ok()?;
    let similarity = value.get("similarity")?.as_f64()?;
    (-1.0..=1.0).contains(&similarity).then_some(similarity)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_angles() {
        for (one, other, wanted) in [
            (vec![1.0, 0.0], vec![1.0, 0.0], 1.0),
            (vec![1.0, 0.0], vec![0.0, 1.0], 0.0),
            (vec![1.0, 0.0], vec![-2.0, 0.0], -1.0),
            (vec![1.0, 0.0], vec![0.6, 0.8], 0.6),
            (
                vec![1.0, 2.0, 3.0],
                vec![4.0, 5.0, 6.0],
                0.974_631_846_197_076_2,
            ),
            (vec![1e300, 1e300], vec![1e-300, 1e-300], 1.0),
        ] {
            let found = cosine(&one, &other).unwrap();
            assert!((found - wanted).abs() < 1e-12, "{one:?} {other:?}: {found}");
        }
    }

    #[test]
    fn what_points_nowhere_is_an_error() {
        let cases = [
            (vec![0.0, 0.0], vec![1.0, 0.0], NoSimilarity::Zero),
            (vec![], vec![], NoSimilarity::Zero),
            (vec![1.0], vec![1.0, 0.0], NoSimilarity::Dimensions(1, 2)),
            (vec![f64::NAN], vec![1.0], NoSimilarity::Range),
            (vec![1.0], vec![f64::INFINITY], NoSimilarity::Range),
        ];
        for (one, other, why) in cases {
            assert_eq!(cosine(&one, &other), Err(why), "{one:?} {other:?}");
        }
    }

    #[test]
    fn only_a_similarity_is_read() {
        for text in [
            "",
            "{}",
            "0.5",
            r#"{"similarity": 1.5}"#,
            r#"{"similarity": "1"}"#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    fn vectors() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        (1_usize..40).prop_flat_map(|length| {
            let one = || prop::collection::vec(-1e6..1e6_f64, length);
            (one(), one())
        })
    }

    proptest! {
        #[test]
        fn it_is_symmetric_bounded_and_blind_to_length((one, other) in vectors(), factor in 1e-6..1e6_f64) {
            let Ok(found) = cosine(&one, &other) else { return Ok(()) };
            prop_assert!((-1.0..=1.0).contains(&found));
            prop_assert!((cosine(&other, &one).unwrap() - found).abs() < 1e-9);
            let longer: Vec<f64> = one.iter().map(|one| one * factor).collect();
            prop_assert!((cosine(&longer, &other).unwrap() - found).abs() < 1e-9);
            prop_assert!((cosine(&one, &one).unwrap() - 1.0).abs() < 1e-9);
        }

        #[test]
        fn what_is_written_is_read(similarity in -1.0..=1.0_f64) {
            prop_assert_eq!(read(&write(similarity)), Some(similarity));
        }
    }
}
