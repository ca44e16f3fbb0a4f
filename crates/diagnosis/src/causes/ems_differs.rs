use super::FoundBy::{Diagnose, Listen};
use super::{Cause, client_fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "ems-differs",
    title: "A session needs the extended master secret that made it",
    happens: "\
A TLS 1.2 session is made with the extended master secret (RFC 7627) or without it. RFC 7627 §5.3 asks a server to
refuse a session made without it, by a full handshake, when the client now offers it, and to end the connection when
a session made with it is offered without.",
    seen: "\
Of a server: a session made with the extension is offered without it. An alert (handshake_failure) is the right answer; a
server that goes on with a full handshake is reported as a note, and one that resumes as a risk, since that reopens the triple
handshake attack. The reverse, made without and offered with, is tried and shown by `--experiments`, and not judged. Of a
client that connects to `--listen`: it has the extension in one connection of a session and not in the other, which is a
fault.",
    confirm: "\
`s_client` sends the extension unless OpenSSL's configuration forbids it (from 3.0); an alert is the right answer:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
printf '%s\\n' 'openssl_conf = c' '[c]' 'ssl_conf = s' '[s]' 'system_default = d' '[d]' 'Options = -ExtendedMasterSecret' > no-ems.cnf
OPENSSL_CONF=no-ems.cnf openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem < /dev/null 2>&1 | grep -E '^(New|Reused)|alert'
```",
    costs: "\
Full handshakes, or failures, for clients of which some connections have the extension and some have not.",
    found_by: &[Diagnose, Listen],
    advice: "Let every client and every node use the extended master secret in every connection (RFC 7627), which all current libraries do by default:",
    fixes: &[
        client_fix("OpenSSL API", "SSL_CTX_clear_options(ctx, SSL_OP_NO_EXTENDED_MASTER_SECRET);", "its default; with s_client, no -ExtendedMasterSecret in the Options of openssl.cnf"),
        client_fix("Java", "", "jdk.tls.useExtendedMasterSecret stays true, its default"),
    ],
};
