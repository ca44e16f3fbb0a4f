use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "rotation-stalled",
    title: "The server stops giving tickets some time after its start",
    happens: "\
Ticket keys have a life of their own. Where a key expires and no new one is made, tickets stop: s2n-tls encrypts
with a key for two hours by default, and a rotation loop that ends after one failed read never starts
again. The server works on, with full handshakes.",
    seen: "\
The full TLS 1.3 handshakes of a run bring tickets at first, and at least the last three bring none: possible, and only seen where
the run meets the moment. A server that had stopped before looks exactly like one that never gave any, which is `not-offered`.
Run `reprise measure` on a schedule with a baseline, which says when resumption went away.",
    confirm: "\
Note the time of the server's last start, and look for the end of tickets:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -msg 2> /dev/null | grep -c NewSessionTicket
```",
    costs: "From that moment on each new connection is a full handshake.",
    found_by: &[Diagnose],
    advice: "Restart the server or give it new keys, and let an alarm tell when no key is young enough:",
    fixes: &[
        fix(
            "s2n-tls",
            "s2n_config_add_ticket_crypto_key(config, name, name_len, key, key_len, intro_time);",
            "before the last one ends; s2n_config_set_ticket_encrypt_decrypt_key_lifetime sets its life",
        ),
    ],
};
