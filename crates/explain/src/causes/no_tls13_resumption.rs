use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "no-tls13-resumption",
    title: "The server's library does not resume TLS 1.3",
    happens: "\
Some libraries have no resumption under TLS 1.3 on the server's side: LibreSSL's server neither sends tickets nor
takes PSKs. GnuTLS resumes TLS 1.3 by tickets alone: with only a database set, TLS 1.2 resumes and TLS 1.3 does not.",
    seen: "\
TLS 1.2 resumes, and under TLS 1.3 no NewSessionTicket ever comes. A server that has it and has switched it off
looks the same from outside (`not-offered`): both are said.",
    confirm: "\
No ticket after a whole response:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -msg 2> /dev/null | grep -c NewSessionTicket
```",
    costs: "Each TLS 1.3 connection is a full handshake.",
    found_by: &[Diagnose],
    advice: "Build the server on a library that resumes TLS 1.3, or keep connections open:",
    fixes: &[
        fix("nginx", "", "build it with OpenSSL from 1.1.1 instead of LibreSSL"),
        fix("Apache", "", "build it with OpenSSL from 1.1.1 instead of LibreSSL"),
        fix("HAProxy", "", "build it with OpenSSL from 1.1.1, AWS-LC or wolfSSL instead of LibreSSL"),
        fix(
            "GnuTLS",
            "gnutls_session_ticket_enable_server(session, &key);",
            "with a key of gnutls_session_ticket_key_generate",
        ),
    ],
};
