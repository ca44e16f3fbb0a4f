use super::{Cause, fix};

pub(super) static CAUSE: Cause = Cause {
    slug: "key-propagation-skew",
    title: "A new ticket key is used before all nodes know it",
    happens: "\
A rotation reaches one node earlier than another. For a while some nodes give tickets under a key that others cannot
decrypt.",
    seen: "\
Not in a run of seconds: the newest key name is refused at some nodes for seconds or minutes, and accepted everywhere later. A
run that falls into that time finds `hidden-nodes`, and another one later finds nothing: repeat it, or run `reprise measure --every 60s` over a rotation.",
    confirm: "\
During a rotation, compare the key names that each node gives:

```sh
openssl s_client -connect ADDRESS:443 -servername HOST -tls1_2 < /dev/null 2> /dev/null | grep -A1 'session ticket:'
```",
    costs: "Full handshakes for tickets that cross nodes during that time.",
    advice: "Publish a key to every node for decryption first, and let it encrypt only when all have it:",
    fixes: &[
        fix(
            "HAProxy",
            "set ssl tls-key ID TLSKEY",
            "on the runtime socket: a new key is first kept, and encrypts only after the next one came",
        ),
        fix(
            "nginx",
            "ssl_session_ticket_key previous.key; ssl_session_ticket_key next.key;",
            "first with the new key last; when every node has it, with the new key first",
        ),
        fix(
            "s2n-tls",
            "s2n_config_add_ticket_crypto_key(config, name, name_len, key, key_len, intro_time);",
            "with an intro_time that lies ahead",
        ),
        fix("Go", "config.SetSessionTicketKeys([][32]byte{current, next})", "then with next first"),
    ],
    ..Cause::BLANK
};
