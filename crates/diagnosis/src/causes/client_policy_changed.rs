use super::Cause;

pub(super) static CAUSE: Cause = Cause {
    slug: "client-policy-changed",
    title: "The server's rules for client certificates changed since the session was made",
    happens: "\
A session carries the client's identity. A server that now asks for a certificate, trusts another CA or checks a
revocation list has reason to refuse sessions of before.",
    seen: "\
Not from outside: it takes a change of configuration between two connections, and shows as any other refusal of old
sessions (`restart-lost-keys`). New sessions are accepted, so that it passes by itself.",
    confirm: "\
Compare the server's configuration with what it was when the session was made, and offer a fresh session:

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -reconnect < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "One full handshake for each client after each such change.",
    advice: "Nothing needs to be fixed: a refusal is right. Change such rules seldom, and not from node to node.",
    separated_by: &["without-certificate"],
    ..Cause::BLANK
};
