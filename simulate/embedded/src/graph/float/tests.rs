//! What the processor computes is what petal computes.

use proptest::prelude::*;

use super::*;

const SINGLE: Format = Format { exp: 8, sig: 24 };
const DOUBLE: Format = Format { exp: 11, sig: 53 };

/// Numbers of all sizes, and special ones.
fn bits() -> impl Strategy<Value = u64> {
    let special = [
        0u64,
        1,
        f64::MIN_POSITIVE.to_bits(),
        f64::MAX.to_bits(),
        f64::INFINITY.to_bits(),
        f64::NAN.to_bits(),
    ];
    let near_one = (1000u64..1050, any::<u64>()).prop_map(|(exp, rest)| exp << 52 | rest >> 12);
    prop_oneof![
        2 => any::<u64>(),
        4 => near_one,
        1 => (prop::sample::select(special.to_vec()), any::<bool>()).prop_map(|(bits, sign)| bits | u64::from(sign) << 63),
        1 => any::<u64>().prop_map(|bits| bits >> 12),
    ]
}

fn single(bits: u64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "any number will do")]
    let number = f64::from_bits(bits) as f32;
    number
}

/// As the processor's, of which a NaN may be another one.
fn same32(found: u64, expected: f32) -> bool {
    (expected.is_nan() && found == SINGLE.nan()) || found == u64::from(expected.to_bits())
}

fn same64(found: u64, expected: f64) -> bool {
    (expected.is_nan() && found == DOUBLE.nan()) || found == expected.to_bits()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn numbers_are_the_processors(a in bits(), b in bits(), subtracts: bool) {
        let how = u64::from(subtracts) << 3;
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        let double = |op: FloatOp, args: &[u64]| op.eval(DOUBLE, 64, args);
        let sum = if subtracts { x - y } else { x + y };
        prop_assert!(same64(double(FloatOp::Add, &[a, b, how]), sum));
        prop_assert!(same64(double(FloatOp::Mul, &[a, b, 0]), x * y));
        let order = match x.partial_cmp(&y) {
            Some(Ordering::Less) => 1,
            Some(Ordering::Equal) => 2,
            Some(Ordering::Greater) => 4,
            None => 0,
        };
        prop_assert_eq!(double(FloatOp::Compare, &[a, b, 0]) & 7, order);
        #[expect(clippy::cast_possible_truncation, reason = "as the conversion does")]
        let whole = if x.is_nan() { i64::MAX } else { x as i64 };
        prop_assert_eq!(double(FloatOp::ToInt, &[a]), whole.cast_unsigned());
        #[expect(clippy::cast_precision_loss, reason = "as the conversion does")]
        let (plain, signed) = (a as f64, a.cast_signed() as f64);
        prop_assert!(same64(double(FloatOp::FromInt(64), &[a, 0]), plain));
        prop_assert!(same64(double(FloatOp::FromInt(64), &[a, 1]), signed));

        let (x, y) = (single(a), single(b));
        let (a, b) = (u64::from(x.to_bits()), u64::from(y.to_bits()));
        let single = |op: FloatOp, args: &[u64]| op.eval(SINGLE, 32, args);
        let sum = if subtracts { x - y } else { x + y };
        prop_assert!(same32(single(FloatOp::Add, &[a, b, how]), sum));
        prop_assert!(same32(single(FloatOp::Mul, &[a, b, 0]), x * y));
        #[expect(clippy::cast_possible_truncation, reason = "as the conversion does")]
        let whole = if x.is_nan() { i32::MAX } else { x as i32 };
        prop_assert_eq!(single(FloatOp::ToInt, &[a]), u64::from(whole.cast_unsigned()));
    }
}
