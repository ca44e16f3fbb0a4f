use super::Cause;
use super::shared::SHARE_KEYS;

pub(super) static CAUSE: Cause = Cause {
    slug: "ticket-key-per-node",
    title: "Each address has a ticket key of its own",
    happens: "\
A name has several addresses, and each server behind them made its ticket key by itself at its start. A ticket is
good at one address alone, and a client that is sent to another makes a full handshake.",
    seen: "\
Tickets of the OpenSSL family and of rustls begin with a 16-byte key name (RFC 5077 §4 recommends that form); those
of s2n-tls carry it in bytes 1 to 16, Mbed TLS uses 4 bytes, newer Go hides it. The key name differs from address to
address, and a ticket of one is refused by the other. Reprise diagnoses one address of a name at a time, so that
this comparison is not made by itself: give each address as a target of its own. Several key names behind *one*
address are `hidden-nodes`.",
    confirm: "\
Take a ticket from one address to the other; it must say `Reused`:

```sh
openssl s_client -connect ADDRESS1:443 -servername HOST -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
openssl s_client -connect ADDRESS2:443 -servername HOST -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "With n addresses taken at random, only one connection in n resumes.",
    advice: "Give every node behind this name the same ticket keys:",
    fixes: SHARE_KEYS,
    separated_by: &["resume"],
    ..Cause::BLANK
};
