//! What cannot be compared is said before anything is measured.

use reprise_harness::Reprise;

#[track_caller]
fn refuses(line: &str, why: &str) {
    Reprise::without_plugins(line).run().exits(2).says(&[why]);
}

#[test]
fn a_stack_that_is_not_there_is_named() {
    refuses("compare full --stacks rustls-ring,opensssl", "unknown stack 'opensssl'; available: rustls-aws-lc");
    refuses("stacks check opensssl", "unknown stack 'opensssl'");
}

#[test]
fn flags_that_leave_no_handshake_are_refused() {
    refuses("compare full --tls 1.2 --groups X25519MLKEM768", "no handshake of 'full' matches these flags");
    refuses("compare full --keys p-257", "unknown key 'p-257'");
    refuses("compare full --groups p-257", "unknown group 'p-257'");
    refuses("compare fall", "possible values: resumption, full, mutual, stacks");
    refuses("compare full --quick --samples 9", "--samples");
}

#[test]
fn what_no_stack_can_do_is_skipped_and_never_zero() {
    let call = Reprise::without_plugins("compare full --stacks rustls-ring --keys rsa-2048 --groups ffdhe2048");
    let (document, outcome) = call.run_for_json();
    assert_eq!(outcome.code, 1, "nothing was measured");
    assert_eq!(document["rows"], serde_json::json!([]));
    assert_eq!(super::strings(&document["skipped"], "outcome"), ["unsupported", "unsupported"]);
    assert!(document["skipped"][0]["reason"].as_str().unwrap().contains("the client: it has no suite"), "{document:#}");
}
