//! What was published about such handshakes, held against what was measured here. The verdict is computed.

use reprise_trace::document::{CompareCase, CompareClaim, CompareRatio, CompareSide};
use reprise_trace::{Kind, Version};

/// A published comparison of TLS 1.3 with TLS 1.2.
struct Published {
    claim: &'static str,
    /// Time of the TLS 1.2 handshake by that of the TLS 1.3 one: below 1 where 1.3 is slower.
    ratio: f64,
    holds_for: fn(&CompareCase, &CompareCase) -> bool,
}

const SOURCE: &str = "wolfSSL, TLS 1.3 Performance, client and server on one computer";

/// wolfSSL's series of 2018, parts 1, 2 and 5; what it gives without a figure has none here.
const PUBLISHED: [Published; 4] = [
    Published {
        claim: "a resumption with DH-2048 takes up to 13 times as long under TLS 1.3 as one without under 1.2",
        ratio: 1.0 / 13.0,
        holds_for: |from, to| from.kind != Kind::Full && to.group == "ffdhe2048",
    },
    Published {
        claim: "a resumption with ECDH takes at least twice as long under TLS 1.3 as one without under 1.2",
        ratio: 0.5,
        holds_for: |from, to| from.kind != Kind::Full && !to.group.starts_with("ffdhe") && !to.group.contains("MLKEM"),
    },
    Published {
        claim: "a full handshake with DHE and RSA is 15 % faster under TLS 1.3",
        ratio: 1.15,
        holds_for: |from, to| is_full(from) && to.key.starts_with("rsa-") && to.group == "ffdhe2048",
    },
    Published {
        claim: "a full handshake with ECDHE is 6 % (RSA) and 7 % (ECDSA) faster under TLS 1.3",
        ratio: 1.06,
        holds_for: |from, to| is_full(from) && !to.group.starts_with("ffdhe") && !to.group.contains("MLKEM"),
    },
];

fn is_full(case: &CompareCase) -> bool {
    case.kind == Kind::Full && !case.mutual
}

/// Each claim with each figure that it is about.
pub(crate) fn held_against(ratios: &[CompareRatio]) -> Vec<CompareClaim> {
    let of_versions = |ratio: &&CompareRatio| {
        ratio.side == CompareSide::Both && (ratio.from.tls, ratio.to.tls) == (Version::Tls12, Version::Tls13)
    };
    let about = |published: &'static Published| {
        let about_it = move |ratio: &&CompareRatio| (published.holds_for)(&ratio.from, &ratio.to);
        ratios.iter().filter(of_versions).filter(about_it).map(move |ratio| judged(published, ratio))
    };
    PUBLISHED.iter().flat_map(about).collect()
}

fn judged(published: &Published, ratio: &CompareRatio) -> CompareClaim {
    let same = (published.ratio > 1.0) == (ratio.median > 1.0);
    let verdict = match ratio.ci95 {
        Some([low, high]) if low <= 1.0 && high >= 1.0 => "no difference",
        None => "too few samples",
        Some(_) if same => "same direction",
        Some(_) => "other direction",
    };
    let (from, to) = (&ratio.from, &ratio.to);
    CompareClaim {
        source: SOURCE.to_owned(),
        claim: published.claim.to_owned(),
        stack: if ratio.client == ratio.server {
            format!("{}, {}, {} → {}", ratio.client, from.key, from.kind, to.kind)
        } else {
            format!("{} with {}, {}, {} → {}", ratio.client, ratio.server, from.key, from.kind, to.kind)
        },
        published: Some(published.ratio),
        measured: ratio.median,
        ci95: ratio.ci95,
        verdict: verdict.to_owned(),
    }
}
