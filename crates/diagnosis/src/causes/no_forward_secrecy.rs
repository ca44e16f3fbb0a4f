use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "no-forward-secrecy",
    title: "A PSK is used without a key exchange",
    happens: "\
With psk_ke the keys of a connection come from the PSK alone (RFC 8446 §2.2): whoever learns it later, or the ticket
key that sealed it, can read what was recorded.",
    seen: "The ServerHello has pre_shared_key and no key_share.",
    confirm: "\
`s_client` offers it with this flag, and prints no group when the server takes it:

```sh
openssl s_client -connect HOST:443 -tls1_3 -allow_no_dhe_kex -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(Server Temp Key|Reused)'
```",
    costs: "No time: it saves the key exchange, at the price of secrecy.",
    found_by: &[Measure, Diagnose],
    advice: "Let the server insist on psk_dhe_ke, unless a device cannot afford the key exchange:",
    fixes: &[fix("nginx", "", "take Options AllowNoDHEKEX out of ssl_conf_command"),
fix("Apache", "", "take Options AllowNoDHEKEX out of SSLOpenSSLConfCmd"),
fix("OpenSSL API", "", "no SSL_OP_ALLOW_NO_DHE_KEX, as by default; s_server without -allow_no_dhe_kex"),
fix("GnuTLS", "", "-PSK in its priority string"),],
};
