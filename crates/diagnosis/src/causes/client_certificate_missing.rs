use super::Cause;
use super::FoundBy::{Diagnose, Measure};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-certificate-missing",
    title: "A client certificate is asked for, and none was given",
    happens: "\
The server asks for a client certificate, the client has none to send, and the service answers with errors. nginx
with `ssl_verify_client on` finishes the handshake, answers 400 and forgets the session: whatever is then seen of
resumption follows from the certificate that is missing.",
    seen: "\
Every connection on which a certificate was requested and none sent was answered with an error. A server that asks
and does not insist answers well, and is not meant.",
    confirm: "\
See whether the server asks:

```sh
openssl s_client -connect HOST:443 -msg < /dev/null 2> /dev/null | grep -c CertificateRequest
```",
    costs: "Nothing follows for resumption: what was measured are error responses.",
    found_by: &[Measure, Diagnose],
    advice: "Set one with --cert FILE --key FILE: the responses are errors, from which nothing follows for resumption.",
    fixes: &[],
};
