//! How far raters of the same items agree, beyond chance: Krippendorff's alpha.
//!
//! K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), for interval data: the
//! difference of two values is the square of their distance.

/// Krippendorff's alpha over units with their values; units with fewer than two values are ignored.
/// 1 is perfect agreement, 0 is chance, negative values are worse than chance. `None` if nothing
/// can be compared, or all values are equal.
#[must_use]
pub fn of(units: &[Vec<f64>]) -> Option<f64> {
    let pairable: Vec<&[f64]> = units
        .iter()
        .map(Vec::as_slice)
        .filter(|unit| unit.len() > 1)
        .collect();
    let values: Vec<f64> = pairable
        .iter()
        .flat_map(|unit| unit.iter().copied())
        .collect();
    let observed: f64 = pairable
        .iter()
        .map(|unit| distances(unit) / (count(unit.len()) - 1.0))
        .sum();
    let total = count(values.len());
    let expected = distances(&values) / (total - 1.0).max(1.0);
    (expected > 0.0).then(|| 1.0 - observed / expected)
}

/// Agreement about a single item, for values from 0 to 1. One unit does not show how far values
/// differ by chance, so its actual alpha is always 0: here chance is a uniform distribution over
/// the scale, whose values differ by 1/6 on average. `None` for fewer than two values.
#[must_use]
pub fn of_one(values: &[f64]) -> Option<f64> {
    const EVEN: f64 = 1.0 / 6.0;
    let number = count(values.len());
    (values.len() > 1).then(|| 1.0 - distances(values) / (number * (number - 1.0)) / EVEN)
}

/// The squared distances of all ordered pairs, in one pass: `2 (n Σx² − (Σx)²)`, relative to the
/// mean to avoid loss of precision.
fn distances(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let number = count(values.len());
    let mean = values.iter().sum::<f64>() / number;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    2.0 * number * spread
}

#[expect(
    clippy::cast_precision_loss,
    reason = "there are fewer than 2^53 scores"
)]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units from the rows of coders; `.` is a missing value.
    fn units(coders: &[&str]) -> Vec<Vec<f64>> {
        let rows: Vec<Vec<Option<f64>>> = coders
            .iter()
            .map(|row| row.split(' ').map(|value| value.parse().ok()).collect())
            .collect();
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        let unit = |at: usize| rows.iter().filter_map(|row| *row.get(at)?).collect();
        (0..width).map(unit).collect()
    }

    fn near(found: Option<f64>, wanted: f64) {
        let found = found.unwrap();
        assert!((found - wanted).abs() < 0.000_5, "{found} is not {wanted}");
    }

    /// Example C of the paper: four observers, twelve units; interval alpha is 0.849.
    #[test]
    fn it_is_what_the_paper_says() {
        let units = units(&[
            "1 2 3 3 2 1 4 1 2 . . .",
            "1 2 3 3 2 2 4 1 2 5 . 3",
            ". 3 3 3 2 3 4 2 2 5 1 .",
            "1 2 3 3 2 4 4 1 2 5 1 .",
        ]);
        near(of(&units), 0.849);
    }

    /// The example of Wikipedia's article: three coders, fifteen units; interval alpha is
    /// 0.811.
    #[test]
    fn it_is_what_the_encyclopedia_says() {
        let units = units(&[
            ". . . . . 3 4 1 2 1 1 3 3 . 3",
            "1 . 2 1 3 3 4 3 . . . . . . .",
            ". . 2 1 3 4 4 . 2 1 1 3 3 . 4",
        ]);
        near(of(&units), 0.811);
    }

    #[test]
    fn what_cannot_be_compared_has_none() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[vec![0.5]]), None);
        assert_eq!(of(&[vec![0.5, 0.5], vec![0.5, 0.5]]), None);
        near(of(&[vec![0.0, 0.0], vec![1.0, 1.0]]), 1.0);
        // A single unit: whatever its values are, its alpha is 0.
        near(of(&[vec![0.1, 0.9, 0.4]]), 0.0);
    }

    #[test]
    fn about_one_thing_the_scale_is_chance() {
        assert_eq!(of_one(&[0.5]), None);
        near(of_one(&[0.8, 0.8, 0.8]), 1.0);
        near(of_one(&[0.0, 1.0]), -5.0);
        // The variance of r_wg (James, Demaree and Wolf 1984): 1 - s² / (1/12).
        near(of_one(&[0.7, 0.8, 0.9]), 1.0 - 0.01 * 12.0);
    }
}
