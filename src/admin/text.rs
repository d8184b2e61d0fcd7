//! Writes Prometheus' text format where the exporter cannot: counters with a fraction, histograms
//! kept in buckets of our own, summaries. Format: prometheus.io, "Text-based format", version 0.0.4.

use std::fmt::{Display, Write};

/// Text that grows family by family.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// Begins a family; its samples must follow before the next begins.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.put(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    /// One sample. Label values are escaped here.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            self.0.push(if index == 0 { '{' } else { ',' });
            self.0.push_str(label);
            self.0.push_str("=\"");
            self.escape(text);
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        self.put(format_args!(" {value}\n"));
    }

    pub(super) fn append_to(&self, text: &mut String) {
        text.push_str(&self.0);
    }

    fn escape(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                other => self.0.push(other),
            }
        }
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("writing to a string does not fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_written_as_the_format_wants_it() {
        let mut text = Text::default();
        text.family("a_total", "counter", "Some.");
        text.sample("a_total", &[], 7);
        text.sample("a_total", &[("x", "1"), ("y", "a\"b\\c\nd")], 0.000_001);
        let mut all = String::new();
        text.append_to(&mut all);
        assert_eq!(
            all,
            "# HELP a_total Some.\n# TYPE a_total counter\na_total 7\na_total{x=\"1\",y=\"a\\\"b\\\\c\\nd\"} 0.000001\n"
        );
    }
}
