//! Room 4: what a command must pass before it runs, as a named list. Each refusal is written here.

use crate::actor::Shard;
use crate::batch::UNKNOWN;
use crate::session::Session;
use commands::{Args, Entry, ReplyMode, Run, Transaction};
use resp::Reply;
use spec::Flags;
use spec::setting::Permit;

/// How a command passed the gates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passage {
    /// It may run.
    Free,
    /// It was answered with an error.
    Refused,
    /// It has too few or too many arguments, and is still to be answered.
    WrongArity,
    /// It has to wait: CLIENT PAUSE.
    Paused,
}

/// Longest piece of an unknown command that is shown back.
const ECHO_BYTES_MAX: usize = 128;

/// What a command does, as a pause sees it: EXEC does what is queued.
fn paused_flags(session: &Session, command: &commands::Command) -> Flags {
    match (&session.multi, command.run) {
        (Some(multi), Run::Transaction(Transaction::Exec)) => command.flags.with(multi.flags),
        _ => command.flags,
    }
}

impl Shard {
    /// Arity, authenticated, permitted, pause: in this order. That it is known was seen before.
    #[inline]
    pub(crate) fn pass(&mut self, session: &mut Session, entry: &Entry, count: usize) -> Passage {
        if !entry.runs_with(count) {
            return Passage::WrongArity;
        }
        // One look tells that none of the other gates is shut.
        if self.pause.is_some() | !session.state.authenticated | session.state.listens | entry.is_protected {
            return self.pass_slowly(session, entry);
        }
        Passage::Free
    }

    #[cold]
    fn pass_slowly(&mut self, session: &mut Session, entry: &Entry) -> Passage {
        let (number, command) = (entry.number, entry.command);
        if self.needs_auth(session) && !command.flags.has(Flags::NO_AUTH) {
            return self.refuse(session, number, "NOAUTH Authentication required.");
        }
        if command.flags.has(Flags::PROTECTED) && !self.permits_debug(session) {
            return self.refuse(
                session,
                number,
                "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.",
            );
        }
        if session.state.only_listens() && !entry.is_for_listeners {
            let text = format!(
                "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context",
                entry.full_name
            );
            return self.refuse(session, number, &text);
        }
        if self.pause.is_some() && self.is_paused(paused_flags(session, command)) {
            return Passage::Paused;
        }
        Passage::Free
    }

    /// The client has not said who it is, and has to: without a password nobody has.
    #[inline]
    pub(crate) fn needs_auth(&self, session: &Session) -> bool {
        !session.state.authenticated && !self.settings.live.requirepass.is_empty()
    }

    fn permits_debug(&self, session: &Session) -> bool {
        match self.settings.live.enable_debug_command {
            Permit::Yes => true,
            Permit::No => false,
            Permit::Local => session.state.is_local(),
        }
    }

    pub(crate) fn refuse(&mut self, session: &mut Session, number: u16, text: &str) -> Passage {
        if number != UNKNOWN {
            self.block.per_command.row(number).rejected_calls.add(1);
        }
        if session.multi.is_some() || self.is_exec(number) {
            return self.refuse_queued(session, number, text);
        }
        self.say_refused(session, text);
        Passage::Refused
    }

    /// Says why a command is refused, where the client wants to hear it.
    pub(crate) fn say_refused(&mut self, session: &mut Session, text: &str) {
        let code = text.split(' ').next().unwrap_or("ERR");
        self.block.error_replies.add(1);
        self.block.errors.count(code.as_bytes());
        if session.state.reply_mode == ReplyMode::On {
            Reply::new(&mut self.reply, session.state.version).error(text);
        } else if session.state.reply_mode != ReplyMode::Off {
            session.state.reply_mode = ReplyMode::On;
        }
    }

    #[cold]
    pub(crate) fn refuse_unknown(&mut self, session: &mut Session, args: Args<'_>) {
        let mut rest = String::new();
        for argument in args.from(1) {
            if rest.len() >= ECHO_BYTES_MAX {
                break;
            }
            let room = ECHO_BYTES_MAX - rest.len();
            let shown = &argument[..argument.len().min(room)];
            rest.push_str(&format!("'{}' ", String::from_utf8_lossy(shown)));
        }
        let name = args.get(0);
        let name = String::from_utf8_lossy(&name[..name.len().min(ECHO_BYTES_MAX)]);
        let text = format!("ERR unknown command '{name}', with args beginning with: {rest}");
        self.refuse(session, UNKNOWN, &text);
    }

    #[cold]
    pub(crate) fn refuse_arity(&mut self, session: &mut Session, number: u16, args: Args<'_>) {
        let catalog = self.catalog;
        let entry = catalog.entry(number);
        let sub = args.get(1);
        let sub = String::from_utf8_lossy(&sub[..sub.len().min(ECHO_BYTES_MAX)]);
        let container = entry.parent.map_or(entry, |parent| catalog.entry(parent));
        let name = container.command.name;
        if args.len() > 1 && container.command.hidden_subcommands {
            let text =
                format!("ERR unknown subcommand or wrong number of arguments for '{sub}'. Try {name} HELP.");
            self.refuse(session, number, &text);
            return;
        }
        if args.len() > 1 && entry.lacks_subcommand(args.len()) {
            self.refuse(session, number, &format!("ERR unknown subcommand '{sub}'. Try {name} HELP."));
            return;
        }
        let text = format!("ERR wrong number of arguments for '{}' command", entry.full_name);
        self.refuse(session, number, &text);
    }
}
