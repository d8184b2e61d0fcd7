//! GETEX: a value is read, and its time to live changed.

use super::expiry::Lifetime;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static GETEX: Command = Command::new("GETEX", Group::String, Run::Local(getex))
    .arity(-2)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::UPDATE))
        .notes("RW and UPDATE because it changes the TTL")])
    .summary("6.2.0", "Returns the string value of a key after setting its expiration time.")
    .arguments(&[
        Argument::key(),
        Argument::one_of(
            "expiration",
            &[
                Argument::new("seconds", ArgumentKind::Integer).token("EX"),
                Argument::new("milliseconds", ArgumentKind::Integer).token("PX"),
                Argument::new("unix-time-seconds", ArgumentKind::UnixTime).token("EXAT"),
                Argument::new("unix-time-milliseconds", ArgumentKind::UnixTime).token("PXAT"),
                Argument::word("persist", "PERSIST"),
            ],
        )
        .optional(),
    ]);

/// What is to become of the key.
enum Then {
    Nothing,
    Persist,
    Expire(i64),
    Delete,
}

fn getex(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(lifetime) = options(args) else {
        return reply.error(number::SYNTAX);
    };
    let (db, now, key) = (ctx.db(), ctx.now, ctx.key(args.get(1)));
    let then = match lookup::content(lookup::read(ctx, key)) {
        Ok(None) => return reply.null(),
        Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
        // Only now: Redis looks at the time after the key.
        Ok(Some(content)) => {
            let Some(then) = outcome(lifetime, args, now, reply) else { return };
            lookup::bulk_content(content, reply);
            then
        }
    };
    let changed = match &then {
        Then::Nothing => false,
        Then::Persist => {
            let volatile =
                ctx.store.find_untouched(db, key, now).is_some_and(|entry| entry.expiry().is_some());
            volatile && ctx.store.set_expiry(db, key, None)
        }
        Then::Expire(time) => ctx.store.set_expiry(db, key, Some(*time)),
        Then::Delete => ctx.store.remove(db, key, now),
    };
    ctx.changed(u64::from(changed));
    let event = match then {
        Then::Nothing => return,
        Then::Persist => "persist",
        Then::Expire(_) => "expire",
        Then::Delete => "del",
    };
    if changed {
        ctx.notify(Events::GENERIC, event, key.bytes);
    }
}

fn options(args: Args<'_>) -> Option<Lifetime> {
    let mut lifetime = Lifetime::Unsaid;
    let mut index = 2;
    while index < args.len() {
        if args.is(index, "PERSIST") {
            lifetime = lifetime.alone(Lifetime::Persist)?;
            index += 1;
        } else {
            lifetime = lifetime.timed(args, index)?;
            index += 2;
        }
    }
    Some(lifetime)
}

fn outcome(lifetime: Lifetime, args: Args<'_>, now: i64, reply: &mut Reply<'_>) -> Option<Then> {
    Some(match lifetime {
        Lifetime::Unsaid | Lifetime::Keep => Then::Nothing,
        Lifetime::Persist => Then::Persist,
        Lifetime::Given { clock, index } => {
            let time = clock.deadline(args.get(index), now, "getex", reply)?;
            if time <= now { Then::Delete } else { Then::Expire(time) }
        }
    })
}
