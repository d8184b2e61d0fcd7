//! Numbers: integers agree with the standard library's, floats survive being written and read.
//! It does not know which command reads them.

use crate::{Random, Target};
use resp::{IntegerText, LongDouble, format_double, parse_f64, parse_i64, parse_u64};

/// All number readers and writers on one text.
pub const NUMBERS: Target = Target { name: "numbers", run: numbers, make: make_number };

fn numbers(text: &[u8]) {
    let standard = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
    match parse_i64(text) {
        // Only the one way to write a number is taken: no plus, no leading zeros, no minus zero.
        Some(number) => {
            assert_eq!(standard, Some(number));
            assert_eq!(IntegerText::new(number).as_bytes(), text);
        }
        None => assert!(standard.is_none_or(|number| number.to_string().as_bytes() != text)),
    }
    if let Some(number) = parse_u64(text) {
        assert_eq!(number.to_string().as_bytes(), text);
    }
    if let Some(value) = parse_f64(text) {
        let written = format_double(value);
        let read = parse_f64(written.as_bytes()).expect("what is written can be read");
        assert!(read == value || (read.is_nan() && value.is_nan()), "{value} became {read}");
    }
    if let Some(value) = LongDouble::parse(text) {
        let mut written = Vec::new();
        value.write(&mut written);
        assert!(!written.is_empty());
        if let Some(sum) = value.plus(value) {
            sum.write(&mut written);
        }
    }
}

fn make_number(random: &mut Random) -> Vec<u8> {
    let mut text = match random.below(5) {
        0 => (random.draw() as i64 >> random.below(64)).to_string().into_bytes(),
        1 => format!("{}", f64::from_bits(random.draw())).into_bytes(),
        2 => format!("{:e}", f64::from_bits(random.draw())).into_bytes(),
        3 => format!("{}.{}", random.draw() as i16, random.draw() as u8).into_bytes(),
        _ => random.argument(),
    };
    if random.one_in(3) {
        random.mutate(&mut text);
    }
    text
}
