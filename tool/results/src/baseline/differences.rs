//! Differences that have no interval: kinds, names, bytes, round trips.

use reprise_model::document::{Difference, MeasureDocument, Run};
use reprise_model::{Asked, PskMode};

use super::Scope;

/// The lengths of ECDSA signatures, certificates' serial numbers and dates vary by themselves.
const BYTES_THAT_VARY: u64 = 16;

pub(super) fn between(earlier: &MeasureDocument, now: &MeasureDocument, scope: &Scope) -> Vec<Difference> {
    let mut differences = Vec::new();
    for before in &earlier.runs {
        match now.run(before.asked.tls, before.asked.kind) {
            Some(after) => differences.extend(of_run(before, after)),
            // A measurement that was cut short misses nothing by itself.
            None if scope.covers(before.asked) && !now.interrupted => {
                differences.push(measured(before.asked, true, false));
            }
            None => {}
        }
    }
    let new = now.runs.iter().filter(|run| earlier.run(run.asked.tls, run.asked.kind).is_none());
    differences.extend(new.map(|run| measured(run.asked, false, true)));
    differences
}

fn measured(asked: Asked, before: bool, after: bool) -> Difference {
    let told = |is: bool| Some(if is { "yes" } else { "no" }.to_owned());
    difference(asked, "measured", told(before), told(after))
}

fn of_run(before: &Run, after: &Run) -> Vec<Difference> {
    let asked = after.asked;
    let mut differences = Vec::new();
    if share_differs(before, after) {
        differences.push(difference(asked, "kinds", Some(as_asked(before)), Some(as_asked(after))));
    }
    if (before.failed == 0) != (after.failed == 0) {
        differences.push(difference(asked, "failed", Some(failed(before)), Some(failed(after))));
    }
    // What was negotiated is told of samples of the asked kind, and is another matter where there were none.
    if before.n == 0 || after.n == 0 {
        return differences;
    }
    let (old, new) = (&before.observed, &after.observed);
    let names = [
        ("version", old.version.clone(), new.version.clone()),
        ("cipher", old.cipher.clone(), new.cipher.clone()),
        ("group", old.group.clone(), new.group.clone()),
        ("signature", old.signature.clone(), new.signature.clone()),
        ("peer_key", old.peer_key.clone(), new.peer_key.clone()),
        ("psk_mode", old.psk_mode.map(psk_mode), new.psk_mode.map(psk_mode)),
        ("alpn", old.alpn.clone(), new.alpn.clone()),
        ("round_trips", number(before.round_trips), number(after.round_trips)),
        ("client_certificate", Some(certificate(before)), Some(certificate(after))),
    ];
    let changed = names.into_iter().filter(|(_, before, after)| before != after);
    differences.extend(changed.map(|(what, before, after)| difference(asked, what, before, after)));
    if let (Some(old), Some(new)) = (before.bytes, after.bytes) {
        let bytes = [("sent", old.sent, new.sent), ("received", old.received, new.received)];
        let changed = bytes.into_iter().filter(|(_, old, new)| old.0.abs_diff(new.0) > BYTES_THAT_VARY);
        differences
            .extend(changed.map(|(what, old, new)| difference(asked, what, Some(old.to_string()), Some(new.to_string()))));
    }
    differences
}

fn difference(asked: Asked, what: &str, before: Option<String>, after: Option<String>) -> Difference {
    Difference { tls: Some(asked.tls), kind: Some(asked.kind), what: what.to_owned(), before, after }
}

fn number(value: Option<u64>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn psk_mode(mode: PskMode) -> String {
    mode.name().to_owned()
}

fn as_asked(run: &Run) -> String {
    format!("{} of {}", run.n, run.made())
}

fn failed(run: &Run) -> String {
    format!("{} of {}", run.failed, run.made())
}

fn certificate(run: &Run) -> String {
    let some = |count: u64| count > 0;
    match (some(run.observed.client_certificate_requested), some(run.observed.client_certificate_sent)) {
        (false, _) => "not asked for",
        (true, false) => "asked for, not sent",
        (true, true) => "sent",
    }
    .to_owned()
}

/// Whether a kind is observed more or less often than chance explains: all, none and some are different answers; two shares
/// in between differ where the normal approximation says so at 95 %.
fn share_differs(before: &Run, after: &Run) -> bool {
    let total = |run: &Run| run.made() as f64;
    let (n_before, n_after) = (total(before), total(after));
    if n_before == 0.0 || n_after == 0.0 {
        return false;
    }
    let (p, q) = (before.n as f64 / n_before, after.n as f64 / n_after);
    let is_extreme = |share: f64| share == 0.0 || share == 1.0;
    if is_extreme(p) || is_extreme(q) {
        return p != q;
    }
    let pooled = (before.n + after.n) as f64 / (n_before + n_after);
    let spread = (pooled * (1.0 - pooled) * (1.0 / n_before + 1.0 / n_after)).sqrt();
    (p - q).abs() > 1.96 * spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_diagnosis::example::Example;
    use reprise_model::document::Traffic;
    use reprise_model::{Bytes, Kind, Version};

    fn of_full(of: u64) -> MeasureDocument {
        Example::new().run("1.3", Kind::Full, 1000).run("1.3", Kind::Ticket, 300).of_which_full(of).document()
    }

    fn names(differences: &[Difference]) -> Vec<&str> {
        differences.iter().map(|it| it.what.as_str()).collect()
    }

    #[test]
    fn a_kind_that_no_longer_resumes_is_told() {
        let found = between(&of_full(0), &of_full(100), &Scope::default());
        let [kinds] = &found[..] else { panic!("{found:?}") };
        assert_eq!(kinds.what, "kinds");
        assert_eq!((kinds.before.as_deref(), kinds.after.as_deref()), (Some("100 of 100"), Some("0 of 100")));
        assert_eq!((kinds.tls, kinds.kind), (Some(Version::Tls13), Some(Kind::Ticket)));
    }

    #[test]
    fn one_new_refusal_is_a_difference_and_a_few_more_are_chance() {
        assert_eq!(names(&between(&of_full(0), &of_full(1), &Scope::default())), ["kinds"]);
        assert_eq!(between(&of_full(40), &of_full(45), &Scope::default()), []);
        assert_eq!(names(&between(&of_full(20), &of_full(60), &Scope::default())), ["kinds"]);
    }

    #[test]
    fn a_kind_no_longer_offered_is_missed_if_asked_for() {
        let now = Example::new().run("1.3", Kind::Full, 1000).document();
        let found = between(&of_full(0), &now, &Scope::default());
        assert_eq!(names(&found), ["measured"]);
        assert_eq!((found[0].before.as_deref(), found[0].after.as_deref()), (Some("yes"), Some("no")));
        assert_eq!(between(&of_full(0), &now, &Scope { kinds: vec![Kind::Full], ..Scope::default() }), []);
        let cut_short = MeasureDocument { interrupted: true, ..now.clone() };
        assert_eq!(between(&of_full(0), &cut_short, &Scope::default()), []);
        assert_eq!(found[0].kind, between(&now, &of_full(0), &Scope::default())[0].kind);
    }

    #[test]
    fn names_and_bytes_that_differ_are_told() {
        let mut earlier = of_full(0);
        earlier.runs[0].bytes = Some(Traffic { sent: Bytes(510), received: Bytes(1000), first_flight: None });
        let mut now = earlier.clone();
        now.runs[0].bytes = Some(Traffic { sent: Bytes(500), received: Bytes(2000), first_flight: None });
        now.runs[0].observed.cipher = Some("TLS_AES_256_GCM_SHA384".to_owned());
        now.runs[0].round_trips = Some(9);
        now.runs[1].failed = 3;
        let found = between(&earlier, &now, &Scope::default());
        assert_eq!(names(&found), ["cipher", "round_trips", "received", "kinds", "failed"]);
    }
}
