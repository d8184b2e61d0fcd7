//! Decimal numbers: read and printed as Redis does, on x86, with doubles and with long doubles.

use corelane_resp::{LongDouble, format_double, parse_f64};
use proptest::prelude::*;

fn printed(value: f64) -> String {
    String::from_utf8(format_double(value).as_bytes().to_vec()).expect("digits")
}

#[test]
fn doubles_are_printed_as_redis_prints_them() {
    let cases = [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-17.0, "-17"),
        (3.5, "3.5"),
        (0.1 + 0.2, "0.30000000000000004"),
        (3.2, "3.2"),
        (-0.001, "-0.001"),
        (1e15, "1000000000000000"),
        (1e18, "1000000000000000000"),
        (4e18, "4000000000000000000"),
        (9.3e18, "9.3e+18"),
        (1e20, "1e+20"),
        (1e21, "1e+21"),
        (-1.5e300, "-1.5e+300"),
        (1e-6, "0.000001"),
        (1.5e-6, "1.5e-6"),
        (1e-7, "1e-7"),
        (1.25e-9, "1.25e-9"),
        (123456.789, "123456.789"),
        (0.0012345, "0.0012345"),
        (0.00012345, "1.2345e-4"),
        (123456789.123456, "123456789.123456"),
        (1234567890.1234567, "1.2345678901234567e+9"),
        (0.01234567890123456, "0.01234567890123456"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        (5e-324, "5e-324"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
    ];
    for (value, expected) in cases {
        assert_eq!(printed(value), expected);
    }
}

#[test]
fn doubles_are_read_strictly() {
    let read = |text: &str| parse_f64(text.as_bytes());
    for text in ["1", "-1", "+1", "1.", ".5", "1e5", "1E+5", "-1.5e-3", "007", "0", "-0", "0e9999", "5e-324"]
    {
        assert_eq!(read(text), text.parse().ok(), "{text}");
    }
    for text in ["inf", "+inf", "Infinity", "INF"] {
        assert_eq!(read(text), Some(f64::INFINITY), "{text}");
    }
    assert_eq!(read("-iNf"), Some(f64::NEG_INFINITY));
    assert_eq!((read("0x10"), read("-0X1.8p1"), read("0x.8p-1")), (Some(16.0), Some(-3.0), Some(0.25)));
    assert_eq!(read("0x1p-1074"), Some(5e-324));
    let refused = [
        "",
        " 1",
        "1 ",
        "1\0",
        "\t1",
        "1\n",
        "+",
        "-",
        ".",
        "e5",
        "1e",
        "1e+",
        "--1",
        "+-1",
        "1_0",
        "1,0",
        "nan",
        "-NaN",
        "infi",
        "in",
        "1e309",
        "-1e309",
        "1e-400",
        "0x",
        "0x.",
        "0xp1",
        "0x1p",
        "0xg",
        "0x1p1024",
        "0x1p-1076",
        "1.2.3",
    ];
    for text in refused {
        assert_eq!(read(text), None, "{text:?}");
    }
}

/// The sum of long doubles as INCRBYFLOAT would store it.
fn sum(first: &str, second: &str) -> String {
    let read = |text: &str| LongDouble::parse(text.as_bytes()).expect("a number");
    let mut text = Vec::new();
    read(first).plus(read(second)).expect("not inf - inf").write(&mut text);
    String::from_utf8(text).expect("digits")
}

#[test]
fn long_doubles_add_as_a_person_would_expect() {
    assert_eq!(sum("1", "-1.1"), "-0.1");
    assert_eq!(sum("0.1", "0.2"), "0.3");
    assert_eq!(sum("1", "0.25"), "1.25");
    assert_eq!(sum("17179869184", "1.5"), "17179869185.5");
    assert_eq!(sum("3.0e3", "200"), "3200");
    assert_eq!(sum("10.50", "0.1"), "10.6");
    assert_eq!(sum("5.0e3", "2.0e2"), "5200");
    assert_eq!(sum("1", "-1"), "0");
    assert_eq!(sum("-0", "-0"), "0");
    assert_eq!(sum("-1e-30", "0"), "0");
    assert_eq!(sum("-0.000000000000000005", "0"), "0");
    assert_eq!(sum("1e19", "1"), "10000000000000000001");
    assert_eq!(sum("inf", "5"), "inf");
    assert_eq!(sum("-inf", "-inf"), "-inf");
}

#[test]
fn long_doubles_round_to_64_bits_ties_to_even() {
    // Values of glibc's strtold and printf on x86.
    assert_eq!(sum("18446744073709551617", "0"), "18446744073709551616");
    assert_eq!(sum("36893488147419103233", "0"), "36893488147419103232");
    assert_eq!(sum("36893488147419103235", "0"), "36893488147419103236");
    assert_eq!(sum("18446744073709551615", "0.5"), "18446744073709551616");
    assert_eq!(sum("9223372036854775807", "0.5"), "9223372036854775807.5");
    assert_eq!(sum("9223372036854775807", "0.75"), "9223372036854775808");
    assert_eq!(sum("690585.31", "107189.20"), "797774.50999999999999091");
    assert_eq!(sum("3.141592653589793238462643", "0"), "3.14159265358979324");
    assert_eq!(sum("1e25", "0"), "10000000000000000000000000");
    assert_eq!(sum("1e4931", "0").len(), 4932);
    assert!(sum("1.18973149535723176502e+4932", "0").starts_with("118973149535723176502126385303"));
}

#[test]
fn long_doubles_count_thousandths_up() {
    let up = |text: &str| LongDouble::parse(text.as_bytes()).unwrap().thousandfold_up();
    for (text, whole) in [
        ("0", 0),
        ("-0", 0),
        ("1", 1_000),
        ("0.001", 1),
        ("0.01", 10),
        ("0.1", 100),
        ("0.0001", 1),
        ("1.2345", 1_235),
        ("-0.0001", 0),
        ("-1", -1_000),
        ("-1.0005", -1_000),
        ("1e-4000", 1),
        ("9223372036854775", 9_223_372_036_854_775_000),
    ] {
        assert_eq!(up(text), Some(whole), "{text}");
    }
    for text in ["9223372036854776", "1e300", "-1e300", "inf", "-inf"] {
        assert_eq!(up(text), None, "{text}");
    }
}

#[test]
fn long_doubles_are_read_strictly() {
    let read = |text: &str| LongDouble::parse(text.as_bytes());
    assert_eq!(read("1.50"), Some(LongDouble::from(1.5)));
    assert_eq!(read("0x1.8p0"), Some(LongDouble::from(1.5)));
    assert_eq!(read("-9223372036854775808"), Some(LongDouble::from(i64::MIN)));
    assert_eq!(read(&format!("1{}", "0".repeat(4932))), read("1e4932"));
    assert!(
        read("1e4932").is_some_and(LongDouble::is_finite)
            && read("inf").is_some_and(|value| !value.is_finite())
    );
    assert!(read("3.6e-4951").is_some(), "the smallest");
    let long = "1".repeat(5 * 1024);
    for text in [
        "",
        " 1",
        "1 ",
        "abc",
        "1e",
        "nan",
        "1e4933",
        "1e-5000",
        "1e-4960",
        "1e99999999999",
        "0x",
        "1..2",
        &long,
    ] {
        assert_eq!(read(text), None, "{text:?}");
    }
    assert_eq!(read("inf").and_then(|value| value.plus(read("-inf")?)), None);
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(bits: u64) {
        let value = f64::from_bits(bits);
        prop_assume!(!value.is_nan());
        let text = printed(value);
        prop_assert_eq!(parse_f64(text.as_bytes()).map(f64::to_bits), Some(bits), "{}", text);
    }

    #[test]
    fn whole_numbers_are_printed_without_a_point(number in -(1i64 << 53)..(1 << 53)) {
        prop_assert_eq!(printed(number as f64), number.to_string());
    }

    #[test]
    fn long_doubles_hold_every_integer(first in any::<i64>(), second in -1_000_000i64..1_000_000) {
        let total = i128::from(first) + i128::from(second);
        prop_assume!(total.unsigned_abs() < 1 << 64);
        prop_assert_eq!(sum(&first.to_string(), &second.to_string()), total.to_string());
    }

    #[test]
    fn small_decimals_add_up(first in -2000i64..2000, second in -2000i64..2000) {
        let text = |cents: i64| {
            let sign = if cents < 0 { "-" } else { "" };
            format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
        };
        let expected = text(first + second);
        let expected = expected.trim_end_matches('0').trim_end_matches('.');
        prop_assert_eq!(sum(&text(first), &text(second)), if expected == "-0" { "0" } else { expected });
    }

    #[test]
    fn doubles_and_long_doubles_agree_on_what_is_a_number(text in r"[+-]?(0x)?[0-9a]{0,4}\.?[0-9]{0,4}([ep][+-]?[0-9]{0,2})?") {
        let (double, long) = (parse_f64(text.as_bytes()), LongDouble::parse(text.as_bytes()));
        prop_assert_eq!(double.is_some(), long.is_some(), "{}", text);
    }

    #[test]
    fn reading_never_panics(text in proptest::collection::vec(any::<u8>(), 0..40), digits in "[0-9.e+x-]{0,60}") {
        for text in [&text[..], digits.as_bytes()] {
            let _ = (parse_f64(text), LongDouble::parse(text));
        }
    }
}
