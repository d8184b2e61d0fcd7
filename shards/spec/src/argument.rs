//! What COMMAND DOCS says of a command's arguments; hints of interactive clients come from it.

/// The kind of an argument, as COMMAND DOCS names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ArgumentKind {
    String,
    Integer,
    Double,
    Key,
    Pattern,
    UnixTime,
    PureToken,
    OneOf,
    Block,
}

impl ArgumentKind {
    /// The printed name.
    pub const fn name(self) -> &'static str {
        match self {
            ArgumentKind::String => "string",
            ArgumentKind::Integer => "integer",
            ArgumentKind::Double => "double",
            ArgumentKind::Key => "key",
            ArgumentKind::Pattern => "pattern",
            ArgumentKind::UnixTime => "unix-time",
            ArgumentKind::PureToken => "pure-token",
            ArgumentKind::OneOf => "oneof",
            ArgumentKind::Block => "block",
        }
    }
}

/// One argument of a command, possibly with arguments of its own.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: ArgumentKind,
    /// The literal word in front of it.
    pub token: Option<&'static str>,
    /// May be left out.
    pub optional: bool,
    /// May come several times.
    pub multiple: bool,
    /// The token comes each time too.
    pub multiple_token: bool,
    /// The version that brought it, where later than the command.
    pub since: Option<&'static str>,
    /// Parts of a block or choices of a oneof.
    pub parts: &'static [Argument],
}

impl Argument {
    /// An argument of that name and kind.
    pub const fn new(name: &'static str, kind: ArgumentKind) -> Argument {
        Argument {
            name,
            kind,
            token: None,
            optional: false,
            multiple: false,
            multiple_token: false,
            since: None,
            parts: &[],
        }
    }

    /// A key.
    pub const fn key() -> Argument {
        Argument::new("key", ArgumentKind::Key)
    }

    /// A literal word alone.
    pub const fn word(name: &'static str, token: &'static str) -> Argument {
        Argument::new(name, ArgumentKind::PureToken).token(token)
    }

    /// One of several.
    pub const fn one_of(name: &'static str, parts: &'static [Argument]) -> Argument {
        let mut argument = Argument::new(name, ArgumentKind::OneOf);
        argument.parts = parts;
        argument
    }

    /// Several together.
    pub const fn block(name: &'static str, parts: &'static [Argument]) -> Argument {
        let mut argument = Argument::new(name, ArgumentKind::Block);
        argument.parts = parts;
        argument
    }

    /// With a literal word in front.
    #[must_use]
    pub const fn token(mut self, token: &'static str) -> Argument {
        self.token = Some(token);
        self
    }

    /// May be left out.
    #[must_use]
    pub const fn optional(mut self) -> Argument {
        self.optional = true;
        self
    }

    /// May come several times.
    #[must_use]
    pub const fn multiple(mut self) -> Argument {
        self.multiple = true;
        self
    }

    /// May come several times, its token each time too.
    #[must_use]
    pub const fn multiple_token(mut self) -> Argument {
        self.multiple = true;
        self.multiple_token = true;
        self
    }

    /// Came with that version.
    #[must_use]
    pub const fn since(mut self, version: &'static str) -> Argument {
        self.since = Some(version);
        self
    }
}
