use super::Cause;
use super::shared::SHARE_KEYS;

pub(super) static CAUSE: Cause = Cause {
    slug: "config-rebuilt-on-reload",
    title: "A reload discards cache or ticket keys",
    happens: "\
A reload of certificates, configuration or logs builds a new context, with an empty cache and new random ticket
keys. Where certificates are renewed daily or logs are rotated hourly, sessions do not live longer than that.",
    seen: "\
Like a restart (`restart-lost-keys`, under which a run that meets the moment finds it): a key name that changes at once, at
regular hours. Compare them with the times of reloads; or save sessions with `reprise measure --session-out FILE` before a
reload and offer them with `--session-in FILE` after it.",
    confirm: "\
Save a session, reload the server, offer it:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
# reload the server here
openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "One full handshake for each client at each reload, all at once.",
    advice: "Keep ticket keys outside of what is rebuilt:",
    fixes: SHARE_KEYS,
    ..Cause::BLANK
};
