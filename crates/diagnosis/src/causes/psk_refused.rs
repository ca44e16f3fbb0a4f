use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "psk-refused",
    title: "The server does not accept the external PSK",
    happens: "\
A server that does not know a PSK's identity goes on with a full handshake (RFC 8446 §4.2.11). A known identity with
another key would have ended the connection, since its binder does not verify: so this is about the identity, the
hash or the mode.",
    seen: "\
Connections that offered the external PSK ended in full handshakes. Where some of them took it, nodes do not share
it.",
    confirm: "\
Offer it with `s_client`:

```sh
openssl s_client -connect HOST:443 -tls1_3 -psk_identity IDENTITY -psk KEYHEX < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
A full handshake instead of one without certificates; where the server has no certificate, a failure.",
    found_by: &[Measure, Diagnose],
    advice: "Compare --psk-identity with the server's, byte by byte; its hash is --psk-hash; if it takes PSKs without key exchange alone, --psk-mode both.",
    fixes: &[fix("OpenSSL API", "", "SSL_CTX_set_psk_find_session_callback for TLS 1.3; SSL_CTX_set_psk_server_callback serves TLS 1.3 with SHA-256 alone"),
fix("GnuTLS", "", "gnutls_psk_set_server_credentials_file, with +ECDHE-PSK and +PSK in its priority string"),
fix("Node", "", "pskCallback, and a suite with the PSK's hash first in ciphers"),],
};
