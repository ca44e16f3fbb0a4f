use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "no-ticket-on-resumption",
    title: "A resumed connection brings no new ticket",
    happens: "\
A TLS 1.3 ticket should serve once (RFC 8446 appendix C.4). A server that gives tickets only after full handshakes
lets its clients run out of them. Servers that have a ticket callback of their own in OpenSSL and do not ask it for
another do this.",
    seen: "\
Full TLS 1.3 handshakes bring tickets, and none of the resumed connections does, priming included. A client that
asked for none on resumption (RFC 9149) is not meant.",
    confirm: "\
Resume once and look for a ticket:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out session.pem > /dev/null 2>&1
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem -msg 2> /dev/null | grep -c NewSessionTicket
```",
    costs: "With t tickets for each full handshake, one connection in t + 1 is full again.",
    found_by: &[Measure, Diagnose],
    advice: "Give a ticket on resumed connections too, or more of them for a full handshake:",
    fixes: &[
        fix(
            "OpenSSL API",
            "SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, callback);",
            "from 3.0; its callback returns 2 under TLS 1.3, which renews the ticket; otherwise SSL_CTX_set_num_tickets",
        ),
        fix("GnuTLS", "gnutls_session_ticket_send(session, 1, 0);", "after a resumed handshake too"),
    ],
};
