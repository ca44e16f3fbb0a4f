use super::Cause;
use super::FoundBy::{Diagnose, Measure};

pub(super) const CAUSE: Cause = Cause {
    slug: "signature-unverified",
    title: "The server's signature could not be verified",
    happens: "\
Verification was skipped on request, and the crypto library could not check the signature either: the key is too
weak for it.",
    seen: "\
The CertificateVerify or ServerKeyExchange carries a signature by a key that the library refuses, such as RSA of
1024 bits.",
    confirm: "\
Look at the key:

```sh
openssl s_client -connect HOST:443 < /dev/null 2> /dev/null | openssl x509 -noout -text | grep 'Public-Key'
```",
    costs: "No time: anyone in between could have answered.",
    found_by: &[Measure, Diagnose],
    advice: "Give the server a key of at least RSA 2048 or P-256.",
    fixes: &[],
};
