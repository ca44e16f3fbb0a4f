//! One server that refuses some of what it gives is not called several.

use reprise_lab::KeyKind;
use reprise_model::document::Finding;
use reprise_servers::{RealServer, Stunnel, StunnelConfig};

use reprise_harness::Lab;

fn findings(lines: &[&str]) -> Vec<Finding> {
    let lab = Lab::new();
    let stunnel = Stunnel::start(StunnelConfig::new(lab.identity(KeyKind::P256), lines).unwrap()).unwrap();
    lab.measure(stunnel.address()).args(["--tls", "1.3"]).count(30).run().exits(0).document().findings
}

/// With NO_TICKET its stateful tickets are accepted only where they are the last of a full handshake: the finding says so, and
/// what it advises makes it go away.
#[test]
fn stunnel_without_tickets_is_no_fleet_of_nodes() {
    reprise_servers::require!("stunnel");
    let findings_without = findings(&["options = NO_TICKET"]);
    let finding = findings_without.iter().find(|it| it.id == "resumed-ticket-refused").unwrap();
    assert!(finding.evidence.iter().any(|line| line.contains("full handshake")), "{finding:?}");
    assert!(!findings_without.iter().any(|it| it.id == "hidden-nodes"), "{findings_without:?}");
    assert!(finding.remedies.iter().any(|it| it.text.contains("options = -NO_TICKET")), "{finding:?}");
    let with = findings(&["options = -NO_TICKET"]);
    assert!(!with.iter().any(|it| ["resumed-ticket-refused", "hidden-nodes"].contains(&it.id.as_str())), "{with:?}");
}
