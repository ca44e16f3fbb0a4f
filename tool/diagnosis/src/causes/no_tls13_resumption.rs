use super::{Cause, fix};

pub(super) static CAUSE: Cause = Cause {
    slug: "no-tls13-resumption",
    title: "The server's library does not resume TLS 1.3",
    happens: "\
Some libraries have no resumption under TLS 1.3 on the server's side: LibreSSL's server neither sends tickets nor
takes PSKs. GnuTLS resumes TLS 1.3 by tickets alone: with only a database set, TLS 1.2 resumes and TLS 1.3 does not.",
    seen: "\
Not from outside: TLS 1.2 resumes, and under TLS 1.3 no NewSessionTicket ever comes, which a server that has switched it off shows
as well; both are found as `not-offered`. Ask the server which library it is built on (`nginx -V`, `haproxy -vv`, `httpd -V`),
and look for this where the configuration switches nothing off.",
    confirm: "\
No ticket after a whole response:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -msg 2> /dev/null \\
  | grep -c NewSessionTicket
```",
    costs: "Each TLS 1.3 connection is a full handshake.",
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
    ..Cause::BLANK
};
