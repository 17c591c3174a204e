//! The natural logarithm as Go computes it, bit by bit: scores round its multiples, and another last bit could tip one.
//!
//! The method is FreeBSD's: reduce to a mantissa near 1, then a polynomial in `s = f / (2 + f)`.
//! Source of the constants: `math/log.go` of Go's standard library, after FreeBSD's `e_log.c`.

const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
const L: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_942e-1,
    2.857_142_874_366_239e-1,
    2.222_219_843_214_978_4e-1,
    1.818_357_216_161_805e-1,
    1.531_383_769_920_937_3e-1,
    1.479_819_860_511_658_6e-1,
];

/// The logarithm of a number of domains, which is 2 or more.
pub(super) fn ln(x: f64) -> f64 {
    // Mantissa in [0.5, 1) and exponent, as Go's Frexp gives them for normal numbers.
    let bits = x.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or_default() - 1022;
    let mut mantissa = f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52));
    let mut exponent = f64::from(exponent);
    if mantissa < std::f64::consts::FRAC_1_SQRT_2 {
        mantissa *= 2.0;
        exponent -= 1.0;
    }
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let t1 = s2 * (L[0] + s4 * (L[2] + s4 * (L[4] + s4 * L[6])));
    let t2 = s4 * (L[1] + s4 * (L[3] + s4 * L[5]));
    let r = t1 + t2;
    let half = 0.5 * f * f;
    exponent * LN2_HIGH - ((half - (s * (half + r) + exponent * LN2_LOW)) - f)
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn it_is_the_logarithm() {
        for x in [2.0, 3.0, 5.0, 10.0, 1_525.0, 5_002.0] {
            assert!((ln(x) - f64::ln(x)).abs() < 1e-14, "{x}: {} {}", ln(x), f64::ln(x));
        }
    }
}
