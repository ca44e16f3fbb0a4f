use super::FoundBy::{Diagnose, Listen, Measure};
use super::{Cause, client_fix, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-psk-mode",
    title: "Only psk_ke is offered, or only psk_dhe_ke is taken",
    happens: "\
A TLS 1.3 client names the ways in which it would use a ticket: psk_dhe_ke, with a key exchange, or psk_ke, without
(RFC 8446 §4.2.9). A server neither uses a mode that was not offered nor sends tickets that could not be used. Most
servers take psk_dhe_ke alone; a client that offers psk_ke alone, as some small devices do, is then given nothing.",
    seen: "\
With psk_ke alone no connection resumes, and often no ticket arrives, while psk_dhe_ke resumes. `measure` offers
psk_dhe_ke unless `--psk-mode` says otherwise, and then says that it is its own doing; `diagnose` offers both to a server
that refuses psk_dhe_ke, which may take psk_ke alone; of a client that connects to `--listen` it reads
psk_key_exchange_modes.",
    confirm: "\
`s_client` offers psk_dhe_ke, and psk_ke as well with this flag; `Server Temp Key` is missing where psk_ke was used:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -allow_no_dhe_kex -sess_out session.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -allow_no_dhe_kex -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused|Server Temp)'
```",
    costs: "Every TLS 1.3 connection is a full handshake.",
    found_by: &[Measure, Diagnose, Listen],
    advice: "Let client and server have psk_dhe_ke in common, which the others take. A server may allow psk_ke where a device cannot afford the key exchange, at the price of forward secrecy:",
    fixes: &[
        fix("nginx", "", "from 1.19.4, Options AllowNoDHEKEX in an ssl_conf_command"),
        fix("Apache", "", "Options AllowNoDHEKEX in an SSLOpenSSLConfCmd"),
        fix("OpenSSL API", "", "SSL_OP_ALLOW_NO_DHE_KEX among the options of the SSL_CTX; it takes psk_dhe_ke in any case"),
        fix("GnuTLS", "", "+PSK in its priority string"),
        fix("Node", "", "SSL_OP_ALLOW_NO_DHE_KEX among its secureOptions"),
        client_fix("OpenSSL API", "", "nothing to set: it always offers psk_dhe_ke, and psk_ke beside it with SSL_OP_ALLOW_NO_DHE_KEX"),
        client_fix("Mbed TLS", "", "MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_ALL for mbedtls_ssl_conf_tls13_key_exchange_modes"),
        client_fix("reprise", "--psk-mode both", ""),
    ],
};
