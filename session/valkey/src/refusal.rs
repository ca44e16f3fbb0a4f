use std::fmt;

use redis::{ErrorKind, RedisError};

/// A command that the store refuses, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The command: `EVALSHA`.
    pub command: &'static str,
    /// What the store said.
    pub answer: String,
    /// What to change, in a sentence; for a missing permission with the line for the store's ACL. Empty where nobody knows.
    pub remedy: String,
}

/// Who asks, for the ACL.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) prefix: String,
}

impl Refusal {
    /// Whether it stays so until someone changes it, rather than while a store loads or fails over.
    pub(crate) fn is_lasting(&self) -> bool {
        !self.remedy.is_empty()
    }

    /// `None` if the store refused nothing: it cannot be reached, or is another one now. Then a new connection may help.
    pub(crate) fn of(command: &'static str, error: &RedisError, user: &User) -> Option<Self> {
        let said = error.clone().into_server_errors();
        let Some((_, said)) = said.as_deref().and_then(<[_]>::first) else {
            let is_login = error.kind() == ErrorKind::AuthenticationFailed;
            let remedy = "check the user and the password in its address".to_owned();
            return is_login.then(|| Self { command: "AUTH", answer: error.to_string(), remedy });
        };
        // What follows are the arguments, in part.
        let details = said.details().unwrap_or_default().split(", with args").next().unwrap_or_default();
        let remedy = match said.code() {
            "READONLY" => return None,
            "NOPERM" => user.acl(),
            "OOM" => "the store is full: raise maxmemory, or set maxmemory-policy to volatile-lru".to_owned(),
            "NOAUTH" => "give a user and a password in its address".to_owned(),
            "ERR" if details.contains("unknown command") => {
                "Redis must be of version 6.2 or later; Valkey of any version will do".to_owned()
            }
            _ => String::new(),
        };
        let answer = format!("{} {details}", said.code());
        Some(Self { command, answer, remedy })
    }
}

impl User {
    /// The line that gives a user all that is needed, and nothing else.
    fn acl(&self) -> String {
        let Self { name, prefix } = self;
        format!("ACL SETUSER {name} ~{prefix}:* +get +getdel +set +evalsha +script|load +time +info +role")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store refuses {}: {}", self.command, self.answer)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", self.remedy) }
    }
}
