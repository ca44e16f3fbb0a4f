//! What `--isolation` is not asked.

use reprise_harness::Reprise;

#[test]
fn what_isolation_cannot_do_is_refused() {
    for (line, words) in [
        ("diagnose 127.0.0.1:1 --isolation -k -X POST", "--isolation sends GET and HEAD only"),
        ("diagnose 127.0.0.1:1 --isolation -k --patience 2s", "--patience"),
        (
            "diagnose 127.0.0.1:1 -k --cert a.pem --cert b.pem",
            "only reprise diagnose --isolation takes more than one --cert",
        ),
        ("diagnose 127.0.0.1:1 --isolation -k --cert a.pem --cert b.pem --key a.key", "name a key for each certificate"),
        ("diagnose 127.0.0.1:1 -k --fail-if 'isolation>0'", "isolation.broken"),
    ] {
        let outcome = Reprise::new(line.split(' ').map(|word| word.trim_matches('\''))).run();
        outcome.exits(2).says(&[words]);
    }
}
