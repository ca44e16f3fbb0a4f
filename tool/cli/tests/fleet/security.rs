//! What the offers between nodes show beside sharing: keys that everyone has, early data that is taken twice.

use reprise_harness::Lab;
use reprise_lab::KeyKind;
use reprise_model::document::{Confidence, Severity};
use reprise_servers::{Nginx, NginxConfig, require};

use crate::fleet::examined::{Examined, SHARED_KEY, addresses, examine};

fn of_two_nginx(key: [u8; 80], early_data: bool) -> Examined {
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let start = |_| {
        Nginx::start(NginxConfig {
            http_directives: "ssl_session_ticket_key ticket.key;".to_owned(),
            files: vec![("ticket.key", key.to_vec())],
            early_data,
            ..NginxConfig::new(vec![identity.clone()])
        })
        .unwrap()
    };
    let nodes: Vec<Nginx> = (0..2).map(start).collect();
    examine(&lab, &addresses(&nodes), "")
}

#[test]
fn a_ticket_key_of_zeros_is_a_fault_though_all_share_it() {
    require!("nginx");
    let examined = of_two_nginx([0; 80], false);
    assert_eq!((examined.blamed(), examined.code), (vec!["ticket-key-zero"], 1), "{}", examined.page);
    assert_eq!(examined.group_sizes(), [2]);
}

#[test]
fn early_data_that_another_node_takes_again_is_a_risk() {
    require!("nginx");
    let examined = of_two_nginx(SHARED_KEY, true);
    assert_eq!((examined.blamed(), examined.code), (vec!["early-data-replayable"], 0), "{}", examined.page);
    let finding = &examined.fleet().findings[0];
    assert_eq!((finding.severity, finding.confidence), (Severity::Risk, Confidence::Certain));
    assert_eq!(of_two_nginx(SHARED_KEY, false).blamed(), [""; 0]);
}
