//! `redis://[user[:password]@]host[:port][/db]`, with percent-encoding in user and password.

/// What a URI says; what it leaves out is `None`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Uri {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) db: Option<u32>,
}

impl Uri {
    /// Reads a URI. The error is one line for the user.
    pub(super) fn parse(uri: &str) -> Result<Uri, String> {
        let (scheme, rest) = uri.split_once("://").ok_or("Invalid URI scheme")?;
        match scheme.to_ascii_lowercase().as_str() {
            "redis" | "valkey" => {}
            "rediss" | "valkeys" => return Err("TLS is not supported: use redis://".into()),
            _ => return Err("Invalid URI scheme".into()),
        }
        let (rest, db) = match rest.split_once('/') {
            Some((rest, db)) => (rest, db.split('?').next().unwrap_or_default()),
            None => (rest, ""),
        };
        let (user_info, host_port) = match rest.rsplit_once('@') {
            Some((user_info, host_port)) => (Some(user_info), host_port),
            None => (None, rest),
        };
        let (user, password) = match user_info.map(|info| info.split_once(':').ok_or(info)) {
            None => (None, None),
            Some(Ok((user, password))) => (filled(user), Some(password)),
            // redis-cli takes a lone word for the password.
            Some(Err(password)) => (None, Some(password)),
        };
        let (host, port) = split_host(host_port);
        let number = |digits: &str, what: &str| format!("Invalid {what} '{digits}' in URI");
        Ok(Uri {
            user: user.map(decode),
            password: password.map(decode),
            host: filled(host).map(str::to_string),
            port: filled(port).map(|port| port.parse().map_err(|_| number(port, "port"))).transpose()?,
            db: filled(db).map(|db| db.parse().map_err(|_| number(db, "database"))).transpose()?,
        })
    }
}

fn filled(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// Host and port; an IPv6 address with a port stands in brackets.
fn split_host(text: &str) -> (&str, &str) {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        return (host, rest.trim_start_matches(':'));
    }
    text.split_once(':').unwrap_or((text, ""))
}

/// Decodes `%41`; what is no such escape stands for itself.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, expected: (&str, &str, &str, u16, u32)) {
        let uri = Uri::parse(uri).expect("a URI of the test");
        let or = |text: Option<String>| text.unwrap_or("-".into());
        let found =
            (or(uri.user), or(uri.password), or(uri.host), uri.port.unwrap_or(0), uri.db.unwrap_or(0));
        let (user, password, host, port, db) = expected;
        assert_eq!(found, (user.into(), password.into(), host.into(), port, db));
    }

    #[test]
    fn every_part_may_be_left_out() {
        check("redis://u:p%40x@h:7000/3", ("u", "p@x", "h", 7000, 3));
        check("redis://secret@h", ("-", "secret", "h", 0, 0));
        check("redis://:p@h", ("-", "p", "h", 0, 0));
        check("redis:///2", ("-", "-", "-", 0, 2));
        check("redis://[::1]:7000", ("-", "-", "::1", 7000, 0));
        check("REDIS://h?x=1", ("-", "-", "h?x=1", 0, 0));
        assert_eq!(Uri::parse("http://x"), Err("Invalid URI scheme".into()));
        assert!(Uri::parse("redis://h:port").is_err());
        assert!(Uri::parse("rediss://h").is_err());
    }
}
