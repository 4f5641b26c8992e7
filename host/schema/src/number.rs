//! Numbers as JSON Schema compares them: by value, so that `1`, `1.0` and `1e0` are the same.
//!
//! Whole numbers are compared exactly, everything else as `f64`.

use std::cmp::Ordering;

use serde_json::Number;

/// How far the quotient of two fractions may be from a whole number, as a share of it: `19.99` is a multiple of `0.01`
/// although neither is exact in binary.
const TOLERANCE: f64 = 1e-9;

/// From this size on the quotient of two `f64` has no fraction, even if the exact one does.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whole numbers below this fit an `i128`.
const WHOLE: f64 = 1e38;

pub(crate) fn is_integer(number: &Number) -> bool {
    whole(number).is_some() || float(number).fract() == 0.0
}

pub(crate) fn compare(left: &Number, right: &Number) -> Ordering {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => float(left).total_cmp(&float(right)),
    }
}

pub(crate) fn is_multiple(number: &Number, of: &Number) -> bool {
    if let (Some(number), Some(of)) = (whole(number), whole(of)) {
        return of != 0 && number % of == 0;
    }
    let (number, of) = (float(number), float(of));
    let quotient = number / of;
    if quotient.abs() >= EXACT {
        // The quotient has no fraction left, and the remainder is exact.
        return number % of == 0.0;
    }
    let nearest = quotient.round();
    (nearest != 0.0 || number == 0.0) && (quotient - nearest).abs() <= TOLERANCE * nearest.abs()
}

/// Returns a text that only equal numbers share.
pub(crate) fn canonical(number: &Number) -> String {
    whole(number).map_or_else(|| float(number).to_string(), |whole| whole.to_string())
}

/// Returns the number if it has no fraction and fits.
fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)).or_else(|| {
        let float = float(number);
        (float.fract() == 0.0 && float.abs() < WHOLE).then_some(float as i128)
    })
}

fn float(number: &Number) -> f64 {
    // `-0.0` and `0.0` are the same number.
    number.as_f64().unwrap_or(f64::NAN) + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).expect("a number")
    }

    #[test]
    fn number_order_is_that_of_the_values() {
        for (left, right, order) in [
            ("1", "1.0", Ordering::Equal),
            ("-0.0", "0", Ordering::Equal),
            ("9007199254740993", "9007199254740992", Ordering::Greater),
            ("18446744073709551615", "-1", Ordering::Greater),
            ("1.5", "2", Ordering::Less),
            ("1e300", "18446744073709551615", Ordering::Greater),
            ("18446744073709551615", "18446744073709551616", Ordering::Less),
            ("1e30", "1000000000000000019884624838656", Ordering::Equal),
        ] {
            assert_eq!(compare(&number(left), &number(right)), order, "{left} and {right}");
        }
    }

    #[test]
    fn number_multiples_of_fractions_are_found() {
        for (value, of, expected) in [
            ("4", "2", true),
            ("5", "2", false),
            ("19.99", "0.01", true),
            ("0.3", "0.1", true),
            ("0.35", "0.1", false),
            ("1e308", "0.5", true),
            ("0", "0.1", true),
            ("1e-12", "1", false),
            ("4.5", "1.5", true),
            ("7", "0", false),
        ] {
            assert_eq!(is_multiple(&number(value), &number(of)), expected, "{value} of {of}");
        }
    }
}
