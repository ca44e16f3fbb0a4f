use super::Cause;
use super::FoundBy::{Diagnose, Measure};

pub(super) const CAUSE: Cause = Cause {
    slug: "node-certificate-differs",
    title: "Full handshakes show different certificates",
    happens: "\
Nodes behind one address or name have different certificates, or check clients against different CAs. Many servers
bind a session to its context, of which certificate and client CA are part, and refuse what was made with another.",
    seen: "\
The leaf's SHA-256 or its key differs between full handshakes of one version and one SNI. A server that
has both an RSA and an ECDSA certificate chooses by what the client offers: with the same offer it does not differ.
It is possible only, and a risk in itself; whether sessions are refused for it stands under `hidden-nodes`.",
    confirm: "\
Count the certificates that come from one address:

```sh
for i in 1 2 3 4 5 6 7 8; do
  openssl s_client -connect HOST:443 < /dev/null 2> /dev/null | openssl x509 -noout -fingerprint -sha256
done | sort | uniq -c
```",
    costs: "\
Refused sessions where the nodes bind them to the certificate; during a rollout of a new certificate it passes.",
    found_by: &[Measure, Diagnose],
    advice: "If nodes share this address, give them the same certificate and client CA: many servers refuse sessions that were made with another.",
    fixes: &[],
};
