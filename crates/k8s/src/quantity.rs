//! Quantities: `250m`, `1.5Gi`, `2e3`.
//!
//! Source of the grammar: `k8s.io/apimachinery/pkg/api/resource/quantity.go`. A value that is not a whole number of our
//! units is rounded up, as `Quantity.Value` and `Quantity.MilliValue` do.

/// A text that is no quantity.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a quantity such as 250m, 1.5Gi or 2e3, found {found:?}")]
pub struct NotAQuantity {
    /// The text that was given.
    pub found: String,
}

/// The amount of a resource in our unit: thousandths for `cpu`, base units for everything else.
///
/// # Errors
/// [`NotAQuantity`].
pub fn amount(resource: &str, text: &str) -> Result<i64, NotAQuantity> {
    let thousandths = parse_thousandths(text).ok_or_else(|| NotAQuantity { found: text.to_owned() })?;
    let amount = if resource == "cpu" {
        thousandths
    } else {
        thousandths.div_euclid(1000) + i128::from(thousandths.rem_euclid(1000) != 0)
    };
    Ok(i64::try_from(amount).unwrap_or(i64::MAX))
}

/// An amount in our unit as people write it: `250m`, `1536Mi`.
#[must_use]
pub fn text(resource: &str, amount: i64) -> String {
    if resource == "cpu" {
        return if amount % 1000 == 0 { (amount / 1000).to_string() } else { format!("{amount}m") };
    }
    for (shift, suffix) in [(40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")] {
        if amount != 0 && amount % (1_i64 << shift) == 0 {
            return format!("{}{suffix}", amount >> shift);
        }
    }
    amount.to_string()
}

/// The value in thousandths, rounded up.
fn parse_thousandths(text: &str) -> Option<i128> {
    let text = text.trim();
    let digits_end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-'))).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits_end);
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => (-1, number),
        None => (1, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // Another sign, which the loop above takes for a part of the number.
    if number.contains(['+', '-']) || whole.is_empty() && fraction.is_empty() || whole.len() > 20 || fraction.len() > 15
    {
        return None;
    }
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    let (multiplier, divisor) = factor(suffix)?;
    // Thousandths = digits × 1000 × multiplier ÷ (scale × divisor), rounded up.
    let numerator = digits.checked_mul(1000)?.checked_mul(multiplier)?;
    let denominator = scale.checked_mul(divisor)?;
    let rounded = numerator / denominator + i128::from(numerator % denominator != 0);
    Some(sign * rounded)
}

fn factor(suffix: &str) -> Option<(i128, i128)> {
    Some(match suffix {
        "" => (1, 1),
        "n" => (1, 1_000_000_000),
        "u" => (1, 1_000_000),
        "m" => (1, 1000),
        "k" => (1000, 1),
        "M" => (1_000_000, 1),
        "G" => (1_000_000_000, 1),
        "T" => (1_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000, 1),
        "E" => (1_000_000_000_000_000_000, 1),
        "Ki" => (1 << 10, 1),
        "Mi" => (1 << 20, 1),
        "Gi" => (1 << 30, 1),
        "Ti" => (1 << 40, 1),
        "Pi" => (1 << 50, 1),
        "Ei" => (1 << 60, 1),
        _ => {
            let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            let power = 10_i128.checked_pow(exponent.unsigned_abs())?;
            if exponent >= 0 { (power, 1) } else { (1, power) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_people_do() {
        let written =
            [("cpu", "250m"), ("cpu", "3"), ("memory", "1536Mi"), ("memory", "2Gi"), ("memory", "1000"), ("pods", "0")];
        for (resource, expected) in written {
            assert_eq!(text(resource, amount(resource, expected).unwrap()), expected);
        }
    }

    #[test]
    fn suffixes_fractions_and_exponents() {
        let cases = [
            ("cpu", "250m", 250),
            ("cpu", "1", 1000),
            ("cpu", "0.1", 100),
            ("cpu", "1n", 1),
            ("memory", "1.5Gi", 1_610_612_736),
            ("memory", "128974848", 128_974_848),
            ("memory", "129e6", 129_000_000),
            ("memory", "128974848000m", 128_974_848),
            ("memory", "1m", 1),
            ("pods", "110", 110),
            ("memory", "-1Ki", -1024),
        ];
        for (resource, text, expected) in cases {
            assert_eq!(amount(resource, text), Ok(expected), "{text}");
        }
        for text in ["", "Gi", "1Xi", "1.2.3", "e3", "--1", "9999999999999999999999"] {
            assert!(amount("memory", text).is_err(), "{text}");
        }
    }
}
