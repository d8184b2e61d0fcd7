//! Patterns of SORT's BY and GET: how a key's name is made of an element. They know no keyspace.

/// What a pattern stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pattern<'a> {
    /// `#`: the element itself.
    Element,
    /// It has no place for the element: nothing is found.
    Nothing,
    /// A key, or a field of one.
    Key(Names<'a>),
}

/// The names that come from elements: a key `before*after`, of which a field may be meant by `->field`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Names<'a> {
    before: &'a [u8],
    after: &'a [u8],
    pub(super) field: Option<&'a [u8]>,
}

impl<'a> Pattern<'a> {
    pub(super) fn of(text: &'a [u8]) -> Pattern<'a> {
        if text == b"#" {
            return Pattern::Element;
        }
        let Some(star) = text.iter().position(|byte| *byte == b'*') else {
            return Pattern::Nothing;
        };
        let (before, after) = (&text[..star], &text[star + 1..]);
        let arrow = after.windows(2).position(|pair| pair == b"->").filter(|at| at + 2 < after.len());
        Pattern::Key(match arrow {
            Some(at) => Names { before, after: &after[..at], field: Some(&after[at + 2..]) },
            None => Names { before, after, field: None },
        })
    }
}

impl Names<'_> {
    /// The name of an element's key.
    pub(super) fn key(&self, element: &[u8]) -> Vec<u8> {
        [self.before, element, self.after].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(String, Option<&str>)> {
        match Pattern::of(text.as_bytes()) {
            Pattern::Key(names) => {
                let key = String::from_utf8(names.key(b"E")).unwrap();
                Some((key, names.field.map(|field| std::str::from_utf8(field).unwrap())))
            }
            _ => None,
        }
    }

    #[test]
    fn an_element_stands_for_the_first_star() {
        assert_eq!(Pattern::of(b"#"), Pattern::Element);
        assert_eq!(Pattern::of(b"key"), Pattern::Nothing);
        assert_eq!(parts("w_*"), Some(("w_E".into(), None)));
        assert_eq!(parts("*_w*"), Some(("E_w*".into(), None)));
        assert_eq!(parts("w_*->field"), Some(("w_E".into(), Some("field"))));
        assert_eq!(parts("w_*x->f->g"), Some(("w_Ex".into(), Some("f->g"))));
        assert_eq!(parts("w_*->"), Some(("w_E->".into(), None)));
        assert_eq!(parts("a->*"), Some(("a->E".into(), None)));
    }
}
