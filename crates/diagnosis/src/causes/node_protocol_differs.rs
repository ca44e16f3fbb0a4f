use super::Cause;
use super::FoundBy::{Diagnose, Measure};

pub(super) const CAUSE: Cause = Cause {
    slug: "node-protocol-differs",
    title: "Full handshakes choose different suites or groups",
    happens: "\
Nodes behind one address have different versions, libraries or cipher settings. A session resumes only where its own
version and suite (TLS 1.2, RFC 5246 §7.4.1.3) or the hash of its suite (TLS 1.3, RFC 8446 §4.2.11) is chosen again.",
    seen: "\
Full handshakes of one version and one offer end in different cipher suites or groups. One server alone always
chooses the same. Nodes of different versions show as failures or refusals, not here: Reprise asks for each version by itself.",
    confirm: "\
Count what one offer leads to:

```sh
for i in 1 2 3 4 5 6 7 8; do
  openssl s_client -connect HOST:443 < /dev/null 2> /dev/null | grep '^New,'
done | sort | uniq -c
```",
    costs: "Refused sessions between nodes that differ, and figures whose median tells of none of the nodes.",
    found_by: &[Measure, Diagnose],
    advice: "If nodes share this address, give them the same versions and cipher suites: a session resumes only where its own are offered and chosen again.",
    fixes: &[],
};
