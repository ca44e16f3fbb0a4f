use super::Cause;
use super::FoundBy::Diagnose;
use super::shared::SHARE_KEYS;

pub(super) const CAUSE: Cause = Cause {
    slug: "restart-lost-keys",
    title: "A restart made all earlier sessions worthless",
    happens: "\
Keys that a server makes for itself at its start live as long as the process. After a restart, an upgrade or a
rollout every ticket that clients hold is refused once.",
    seen: "\
The key name of tickets changes at one moment for all connections of a version, and every ticket of before is refused from then
on. It is possible only: a reload (`config-rebuilt-on-reload`) and a rotation without overlap (`rotation-no-overlap`) look the same. A run of seconds meets that moment by chance. To see a restart that is planned, save sessions with `reprise measure
--session-out FILE` before it and offer them with `--session-in FILE` after it.",
    confirm: "\
Save a session, restart the server, offer it:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
# restart the server here
openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
One full handshake for each client at each restart, all at once: the load of a rollout is the sum of them.",
    found_by: &[Diagnose],
    advice: "Keep the ticket keys outside of the process:",
    fixes: SHARE_KEYS,
};
