//! Claims that one version of TLS is faster than the other.

use reprise_model::document::{CompareCase, CompareClaim, CompareOver, CompareRatio, CompareSide, cipher_of};
use reprise_model::{Kind, PskMode, Version};

use super::{Claim, OF_VERSIONS, Versions};

/// Each claim with each figure that it is about. What was published is time on a clock: over memory there is none.
pub(crate) fn of_versions(ratios: &[CompareRatio], over: CompareOver) -> Vec<CompareClaim> {
    let side = if over == CompareOver::Loopback { CompareSide::Wall } else { CompareSide::Both };
    let newer = |ratio: &&CompareRatio| {
        ratio.side == side && ratio.from.bulk.is_none() && (ratio.from.tls, ratio.to.tls) == (Version::Tls12, Version::Tls13)
    };
    let about = |claim: &'static Claim<Versions>| {
        let about_it = move |ratio: &&CompareRatio| (claim.decided_by.holds_for)(&ratio.from, &ratio.to);
        ratios.iter().filter(newer).filter(about_it).map(move |ratio| judged(claim, ratio, ratios))
    };
    OF_VERSIONS.iter().flat_map(about).collect()
}

fn judged(claim: &Claim<Versions>, ratio: &CompareRatio, ratios: &[CompareRatio]) -> CompareClaim {
    let (from, to) = (&ratio.from, &ratio.to);
    let who =
        if ratio.client == ratio.server { ratio.client.clone() } else { format!("{} with {}", ratio.client, ratio.server) };
    let stack = format!("{who}, {}, {} → {}", subject(from, to), from.kind, to.kind);
    let verdict = verdict(claim.decided_by.is_faster, ratio.median, ratio.ci95);
    CompareClaim {
        measured: Some(ratio.median),
        ci95: ratio.ci95,
        verdict: verdict.to_owned(),
        why: why(verdict, claim.decided_by.ratio, ratio, ratios),
        ..claim.about(stack, claim.decided_by.ratio)
    }
}

/// The certificate's key, or the suite in its place; and the group.
fn subject(from: &CompareCase, to: &CompareCase) -> String {
    let authenticated_by = if from.kind == Kind::Psk { cipher_of(&from.cipher) } else { &from.key };
    match to.psk_mode {
        Some(PskMode::PskKe) => authenticated_by.to_owned(),
        _ => format!("{authenticated_by} {}", to.group),
    }
}

/// Why it is not as published, as far as this run tells: whose CPU time differs in the direction of the whole.
fn why(verdict: &str, published: Option<f64>, whole: &CompareRatio, ratios: &[CompareRatio]) -> Option<String> {
    match (verdict, published, whole.ci95) {
        ("no difference", Some(published), Some([low, high])) if low <= published && published <= high => {
            return Some(format!("the interval includes the published {published:.2} too: more samples would tell"));
        }
        ("no difference" | "other direction", ..) => {}
        _ => return None,
    }
    let of = |side| {
        let is_it = |ratio: &&CompareRatio| {
            (&ratio.client, &ratio.server, &ratio.from, &ratio.to) == (&whole.client, &whole.server, &whole.from, &whole.to)
                && ratio.side == side
        };
        ratios.iter().find(is_it).and_then(|ratio| Some((side, ratio.median, ratio.ci95?)))
    };
    let sides: Vec<(CompareSide, f64, [f64; 2])> =
        [CompareSide::Client, CompareSide::Server].into_iter().filter_map(of).collect();
    let figures = |sides: &[&(CompareSide, f64, [f64; 2])]| {
        let figure = |(side, median, [low, high]): &(CompareSide, f64, [f64; 2])| {
            format!("{} {median:.2} ±{:.2}", side.name(), (high - low) / 2.0)
        };
        sides.iter().map(|it| figure(it)).collect::<Vec<_>>().join(", ")
    };
    let all: Vec<_> = sides.iter().collect();
    if verdict == "no difference" {
        return Some(format!("in CPU time: {}", figures(&all)));
    }
    let more = whole.median < 1.0;
    let differs = |(_, _, [low, high]): &&(CompareSide, f64, [f64; 2])| if more { *high < 1.0 } else { *low > 1.0 };
    let culprits: Vec<_> = sides.iter().filter(differs).collect();
    let amount = if more { "more" } else { "less" };
    Some(if culprits.is_empty() {
        format!("not by CPU time ({}), but by waiting for the other side", figures(&all))
    } else {
        format!("TLS 1.3 takes {amount} CPU time here: {}", figures(&culprits))
    })
}

/// What a ratio says to a claim that its second side is faster, or slower.
pub(super) fn verdict(is_faster: bool, median: f64, ci95: Option<[f64; 2]>) -> &'static str {
    match ci95 {
        Some([low, high]) if low <= 1.0 && high >= 1.0 => "no difference",
        None => "too few samples",
        Some(_) if is_faster == (median > 1.0) => "same direction",
        Some(_) => "other direction",
    }
}

#[cfg(test)]
mod tests {
    use reprise_pairs::{Case, Key};
    use reprise_wire::NamedGroup;

    use super::*;

    /// Full handshakes of both versions: the ratio of time on a clock, and of each side's CPU time.
    fn claim(wall: [f64; 3], client: [f64; 3], server: [f64; 3]) -> CompareClaim {
        let case = |version| Case::new(version, Kind::Full, Key::RSA_2048, NamedGroup::X25519, false).unwrap().document();
        let ratio = |side, [low, median, high]: [f64; 3]| CompareRatio {
            client: "openssl".to_owned(),
            server: "openssl".to_owned(),
            side,
            from: case(Version::Tls12),
            to: case(Version::Tls13),
            median,
            ci95: Some([low, high]),
        };
        let ratios =
            [ratio(CompareSide::Wall, wall), ratio(CompareSide::Client, client), ratio(CompareSide::Server, server)];
        let mut claims = of_versions(&ratios, CompareOver::Loopback);
        assert_eq!(claims.len(), 1, "{claims:#?}");
        claims.remove(0)
    }

    #[test]
    fn what_is_as_published_needs_no_reason() {
        let claim = claim([1.1, 1.2, 1.3], [1.0, 1.1, 1.2], [1.0, 1.1, 1.2]);
        assert_eq!((claim.verdict.as_str(), claim.why), ("same direction", None));
        assert_eq!(claim.stack, "openssl, rsa-2048 x25519, full → full");
    }

    #[test]
    fn the_side_that_computes_more_is_named() {
        let claim = claim([0.7, 0.8, 0.9], [0.9, 1.0, 1.1], [0.6, 0.7, 0.8]);
        assert_eq!(claim.verdict, "other direction");
        assert_eq!(claim.why.as_deref(), Some("TLS 1.3 takes more CPU time here: server 0.70 ±0.10"));
    }

    #[test]
    fn time_that_nobody_computes_is_waiting() {
        let claim = claim([0.7, 0.8, 0.9], [0.9, 1.0, 1.1], [0.9, 1.0, 1.1]);
        let why = "not by CPU time (client 1.00 ±0.10, server 1.00 ±0.10), but by waiting for the other side";
        assert_eq!(claim.why.as_deref(), Some(why));
    }

    #[test]
    fn a_wide_interval_is_no_contradiction() {
        let wide = claim([0.8, 1.0, 1.2], [0.9, 1.0, 1.1], [0.9, 1.0, 1.1]);
        assert_eq!(wide.why.as_deref(), Some("the interval includes the published 1.06 too: more samples would tell"));
        let narrow = claim([0.99, 1.0, 1.01], [0.9, 1.0, 1.1], [0.9, 1.0, 1.1]);
        assert_eq!(narrow.why.as_deref(), Some("in CPU time: client 1.00 ±0.10, server 1.00 ±0.10"));
    }
}
