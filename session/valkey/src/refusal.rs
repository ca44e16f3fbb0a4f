use redis::{ErrorKind, RedisError};
use reprise_session::store::remote::{Refusal, StoreError};

/// Who asks, for the ACL.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) prefix: String,
}

impl User {
    /// What an error says of the store: that it refuses this command, or that it cannot be reached or is another one now. Then a new
    /// connection may help.
    pub(crate) fn error(&self, command: &'static str, error: &RedisError) -> StoreError {
        match self.refusal(command, error) {
            Some(refusal) => StoreError::Refused(refusal),
            None => StoreError::Failed(error.to_string()),
        }
    }

    fn refusal(&self, command: &'static str, error: &RedisError) -> Option<Refusal> {
        let said = error.clone().into_server_errors();
        let Some((_, said)) = said.as_deref().and_then(<[_]>::first) else {
            let is_login = error.kind() == ErrorKind::AuthenticationFailed;
            let remedy = "check the user and the password in its address".to_owned();
            return is_login.then(|| Refusal::new("AUTH", error.to_string(), remedy));
        };
        // What follows are the arguments, in part.
        let details = said.details().unwrap_or_default().split(", with args").next().unwrap_or_default();
        let remedy = match said.code() {
            "READONLY" => return None,
            "NOPERM" => self.acl(),
            "OOM" => "the store is full: raise maxmemory, or set maxmemory-policy to volatile-lru".to_owned(),
            "NOAUTH" => "give a user and a password in its address".to_owned(),
            "ERR" if details.contains("unknown command") => {
                "Redis must be of version 6.2 or later; Valkey of any version will do".to_owned()
            }
            _ => String::new(),
        };
        let answer = format!("{} {details}", said.code());
        Some(Refusal::new(command, answer, remedy))
    }

    /// The line that gives a user all that is needed, and nothing else.
    fn acl(&self) -> String {
        let Self { name, prefix } = self;
        format!("ACL SETUSER {name} ~{prefix}:* +get +getdel +set +evalsha +script|load +time +info +role")
    }
}
