use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "early-data-unanswered",
    title: "Early data is accepted and never answered",
    happens: "\
TLS takes the request as early data and the service never reads it: a program on OpenSSL that calls SSL_accept
without SSL_read_early_data, or `gnutls-serv --earlydata`, does so.",
    seen: "\
Connections that begin with early data get no response, while the same request after the handshake is answered.
Where nothing is answered at all, it may be the service, and is said as possible only.",
    confirm: "\
Send a request early and wait:

```sh
(sleep 3) | openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem -early_data early.txt 2> /dev/null | grep '^HTTP/'
```",
    costs: "The client waits until its own timeout.",
    found_by: &[Measure, Diagnose],
    advice: "Let what stands behind TLS read early data, or allow none:",
    fixes: &[fix("OpenSSL API", "", "call SSL_read_early_data until it returns SSL_READ_EARLY_DATA_FINISH"),
fix("GnuTLS", "", "call gnutls_record_recv_early_data after the handshake"),
fix("rustls", "", "read ServerConnection::early_data() before the plaintext of the connection"),],
};
