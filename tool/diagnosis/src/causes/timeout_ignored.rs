use super::{Cause, fix};

pub(super) static CAUSE: Cause = Cause {
    slug: "timeout-ignored",
    title: "The configured session timeout does not apply to TLS 1.3",
    happens: "\
Libraries of the BoringSSL family keep a timeout of their own for TLS 1.3: SSL_CTX_set_session_psk_dhe_timeout, two
days by default, and at most seven for the authentication. What SSL_CTX_set_timeout or a server's directive says
holds for TLS 1.2 alone.",
    seen: "\
Not from outside: the configured value is not on the wire. A TLS 1.3 lifetime of 172800 s beside a TLS 1.2 hint of
some minutes, which `openssl s_client` prints of each ticket, is the hint.",
    confirm: "\
Compare the lifetimes of both versions:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 2> /dev/null | grep 'lifetime hint'
openssl s_client -connect HOST:443 -tls1_2 < /dev/null 2> /dev/null | grep 'lifetime hint'
```",
    costs: "No time; sessions live longer than the policy says, and a stolen key reads more.",
    advice: "Set the timeout of TLS 1.3 by its own function, where the program can:",
    fixes: &[
        fix(
            "OpenSSL API",
            "SSL_CTX_set_session_psk_dhe_timeout(ctx, 3600);",
            "of BoringSSL and AWS-LC; OpenSSL itself applies SSL_CTX_set_timeout to both",
        ),
        fix("Envoy", "", "has no setting for it: session_timeout holds for TLS 1.2 alone"),
    ],
    separated_by: &["patience"],
    ..Cause::BLANK
};
