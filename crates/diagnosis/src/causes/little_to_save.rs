use super::Cause;
use super::FoundBy::{Diagnose, Measure};

pub(super) const CAUSE: Cause = Cause {
    slug: "little-to-save",
    title: "Resumed, and little of the handshake is saved",
    happens: "\
A TLS 1.3 resumption with psk_dhe_ke makes a fresh key exchange (RFC 8446 §2.2): only the certificates, the
signature and its verification are saved. With an ECDSA key on a fast link that is little; with RSA and a long chain
it is much.",
    seen: "\
The interval of full against resumed handshakes lies close to 1: less than a tenth of the handshake is saved, or the
samples do not decide. The finding shows the arithmetic of this very target; without enough samples nothing is said.",
    confirm: "\
Compare CPU time of full and resumed handshakes on the server, or let Reprise measure both interleaved:

```sh
reprise measure HOST --kinds full,ticket
```",
    costs: "\
Nothing is lost. What could be gained lies elsewhere: round trips (`latency-rules`) and kept connections.",
    found_by: &[Measure, Diagnose],
    advice: "Keep connections open for the next request: that saves the whole handshake. Where the certificate's key is RSA, an ECDSA key makes the full handshake cheaper.",
    fixes: &[],
};
