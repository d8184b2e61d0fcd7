//! A request as a client sends it, and what its reply has to be. It does not know who makes it.

use crate::carriers::Carried;
use resp::client::{Value, encode_command};
use std::rc::Rc;

/// What a reply has to be.
#[derive(Clone, Debug)]
pub(crate) enum Expect {
    /// One reply, of one of these kinds.
    Kinds(Kinds),
    /// This one.
    Exactly(Value),
    /// The reply of that command in the history.
    History(usize),
    /// How many have heard a message: the channel, the speaker, and who was listening for sure.
    Heard(usize, u64, Vec<u64>),
    /// The number that the role knows what to do with.
    Number(Meaning),
    /// The values of keys, with the same meaning.
    Values(Meaning),
    /// The reply is the last: then the server closes.
    Last,
}

/// What a role makes of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// The later key of a pair: remembered.
    Later,
    /// The earlier key of the pair: not below what was remembered.
    Earlier,
    /// All keys of a group hold one token, or none is there.
    Group,
    /// How many keys of a group are there: all or none.
    GroupCount,
    /// A pause has begun.
    Paused,
    /// Values that must not change while it lasts.
    Stands,
    /// A step of a scan.
    Scanned,
    /// Every token is there once.
    Tokens,
    /// A counter after an increment: larger than all this client has seen.
    Counted,
    /// What the pair that is watched holds.
    Price,
    /// EXEC has set it one higher, or not.
    Bought,
    /// The pair at the end.
    Wallet,
    /// The value of a group that is watched.
    Token,
    /// A watched key, as it is for now.
    Looked,
    /// Two posts of which one is manned at least.
    Posts,
    /// EXEC behind a watched key whose time may have come.
    Verdict,
    /// Elements from the first number to below the second were pushed.
    Pushed(u64, u64),
    /// Elements came out.
    Popped,
    /// An element went elsewhere.
    Moved,
    /// All that were pushed have come out.
    AllPopped,
    /// The wait of that token for the line.
    InLine(usize),
    /// Elements that are carried between collections.
    Carried(Carried),
    /// A value of a counter: at least what was acknowledged, at most what was sent.
    Total,
}

/// A set of reply kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kinds(pub u16);

impl Kinds {
    pub(crate) const SIMPLE: Kinds = Kinds(1);
    pub(crate) const ERROR: Kinds = Kinds(2);
    pub(crate) const INTEGER: Kinds = Kinds(4);
    pub(crate) const BULK: Kinds = Kinds(8);
    pub(crate) const NULL: Kinds = Kinds(16);
    pub(crate) const ARRAY: Kinds = Kinds(32);
    pub(crate) const ANY: Kinds = Kinds(u16::MAX);

    pub(crate) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub(crate) fn of(value: &Value) -> Kinds {
        match value {
            Value::Simple(_) => Kinds::SIMPLE,
            Value::Error(_) => Kinds::ERROR,
            Value::Integer(_) => Kinds::INTEGER,
            Value::Bulk(_) => Kinds::BULK,
            Value::Null => Kinds::NULL,
            Value::Array(_) => Kinds::ARRAY,
            _ => Kinds(1 << 15),
        }
    }

    pub(crate) fn has(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }
}

/// What a client sends.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub bytes: Vec<u8>,
    /// `None`: there is no reply.
    pub expect: Option<Expect>,
    /// How it is shown in a trace.
    pub text: Rc<str>,
}

impl Request {
    pub(crate) fn new<T: AsRef<[u8]>>(args: &[T], expect: Expect) -> Request {
        let args: Vec<&[u8]> = args.iter().map(AsRef::as_ref).collect();
        let mut bytes = Vec::new();
        encode_command(&args, &mut bytes);
        Request { bytes, expect: Some(expect), text: show(&args) }
    }

    /// The same as a line of words, where the arguments allow it.
    pub(crate) fn inline<T: AsRef<[u8]>>(args: &[T], expect: Expect) -> Request {
        let plain = |arg: &T| {
            let arg = arg.as_ref();
            !arg.is_empty() && arg.iter().all(u8::is_ascii_alphanumeric)
        };
        let mut request = Request::new(args, expect);
        if args.iter().all(plain) {
            let words: Vec<&[u8]> = args.iter().map(AsRef::as_ref).collect();
            request.bytes = [&words.join(&b' ')[..], b"\r\n"].concat();
        }
        request
    }
}

/// A reply as a trace shows it.
pub(crate) fn brief(value: &Value) -> String {
    match value {
        Value::Bulk(text) => show(&[text]).to_string(),
        Value::Simple(text) => format!("+{text}"),
        Value::Error(text) => format!("-{text}"),
        Value::Integer(number) => format!(":{number}"),
        Value::Array(values) if values.len() < 12 => {
            format!("[{}]", values.iter().map(brief).collect::<Vec<_>>().join(" "))
        }
        other => {
            let mut text = format!("{other:?}");
            text.truncate(60);
            text
        }
    }
}

/// Words as a trace shows them.
pub(crate) fn show(args: &[&[u8]]) -> Rc<str> {
    let word = |arg: &&[u8]| {
        let text = arg[..arg.len().min(24)].escape_ascii().to_string();
        if arg.len() > 24 { format!("{text}..({})", arg.len()) } else { text }
    };
    args.iter().map(word).collect::<Vec<_>>().join(" ").into()
}
