//! More nodes than all pairs are tried of.

use std::fmt::Write as _;

use reprise_harness::Lab;
use reprise_lab::KeyKind;
use reprise_servers::{Nginx, NginxConfig, RealServer};

use crate::fleet::apart::nginx;
use crate::fleet::examined::prepared_for;

/// What a terminal shows at once.
const SCREEN: usize = 40;

/// Each nginx is as many nodes as it has addresses.
#[test]
fn five_hundred_nodes_are_a_page_that_fits_a_screen() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let start = |key| {
        let listen = vec!["; listen 0.0.0.0:{port} ssl".to_owned()];
        Nginx::start(NginxConfig { listen, ..nginx(&identity, key) }).unwrap()
    };
    let nodes = [0, 1, 2].map(start);
    let mut targets = String::new();
    for (node, count) in nodes.iter().zip([300, 150, 50]) {
        for place in 0..count {
            let _ = writeln!(targets, "127.0.{}.{}:{}", 1 + place / 200, 1 + place % 200, node.address().port());
        }
    }
    let file = lab.file("targets.txt", targets);
    let flags = format!("--targets-from {} --sni localhost --tls 1.3 --rate 2000", file.display());
    let examined = prepared_for(&lab, [], &flags).run_to_its_end();
    assert_eq!(
        (examined.blamed(), examined.group_sizes(), examined.code),
        (vec!["ticket-key-per-node"], vec![300, 150, 50], 1),
        "{}",
        examined.page
    );
    let fleet = examined.fleet();
    assert!((fleet.shared.unwrap() - 0.46).abs() < 1e-9 && !fleet.incomplete, "{}", examined.page);
    assert!(fleet.connections <= 500 * 14, "{}", fleet.connections);
    assert!(examined.page.lines().count() <= SCREEN, "{}", examined.page);
    examined.assert_fits();
}
