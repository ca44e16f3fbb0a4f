//! Sessions of one place are offered to another, by the engine of crossings.

#![allow(clippy::unwrap_used, reason = "a test panics on what it does not expect")]

use std::net::TcpListener;

use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec};
use reprise_model::{Asked, Kind, Version};
use reprise_probe::crossing::{Crossed, Crossing, CrossingEnd, CrossingLimits, Order, Place, SessionOf};
use reprise_probe::{CertificateTrust, Interrupt, NoObserver, Options};

const TICKET: Asked = Asked { tls: Version::Tls13, kind: Kind::Ticket };
const ID: Asked = Asked { tls: Version::Tls12, kind: Kind::Id };
const MANY: CrossingLimits =
    CrossingLimits { connections: 100, rate: 1000, time: std::time::Duration::from_secs(60), at_once: 4 };

fn servers(count: usize, resumption: EmbeddedResumption) -> Vec<EmbeddedServer> {
    let authority = Authority::new().unwrap();
    let identity = || authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
    (0..count)
        .map(|_| EmbeddedServer::start(EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity()) }).unwrap())
        .collect()
}

fn place(address: std::net::SocketAddr) -> Place {
    let options = Options { certificates: CertificateTrust::Insecure, ..Options::default() };
    Place { target: reprise_connection::Target::at(address), options }
}

/// From, to, whether it was resumed.
fn outcomes(crossed: &[Crossed]) -> Vec<(Option<usize>, usize, bool)> {
    crossed.iter().map(|it| (it.from, it.to, it.observation.kind().is_some_and(|kind| kind != Kind::Full))).collect()
}

#[test]
fn a_session_is_accepted_by_its_own_server_alone() {
    for (asked, resumption) in [(TICKET, EmbeddedResumption::Ticket), (ID, EmbeddedResumption::Id)] {
        let servers = servers(2, resumption);
        let interrupt = Interrupt::default();
        let places = servers.iter().map(|server| place(server.address())).collect();
        let mut crossing = Crossing::new(places, MANY, 8, &NoObserver, &interrupt);
        let pairs = [(0, 0), (0, 1), (1, 1), (1, 0)];
        let made = crossing.carry_out(pairs.map(|(from, to)| Order::offer(from, to, asked)));
        let offers: Vec<_> = outcomes(&made).into_iter().filter(|(from, ..)| from.is_some()).collect();
        assert_eq!(offers.len(), 4, "{made:?}");
        assert!(offers.iter().all(|(from, to, resumed)| *resumed == (*from == Some(*to))), "{asked:?}: {offers:?}");
        for offer in made.iter().filter(|it| it.from.is_some()) {
            let origin = offer.observation.offered.and_then(|offered| offered.origin).unwrap();
            assert!(origin.index < offer.observation.index);
        }
        assert_eq!(crossing.ended(), None);
    }
}

#[test]
fn a_place_that_is_down_harms_no_other() {
    let servers = servers(1, EmbeddedResumption::Ticket);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let interrupt = Interrupt::default();
    let places = vec![place(servers[0].address()), place(closed)];
    let mut crossing = Crossing::new(places, MANY, 0, &NoObserver, &interrupt);
    let orders = (0..9).flat_map(|_| [(0, 0), (0, 1), (1, 0)]).map(|(from, to)| Order::offer(from, to, TICKET));
    let made = crossing.carry_out(orders);
    assert_eq!(outcomes(&made).iter().filter(|it| **it == (Some(0), 0, true)).count(), 9);
    assert_eq!(made.iter().filter(|it| it.to == 1).count(), 2, "{made:?}");
    assert!(crossing.state(1).given_up.is_some() && crossing.state(0).given_up.is_none());
}

#[test]
fn a_session_can_be_named_by_its_connection() {
    let servers = servers(1, EmbeddedResumption::Id);
    let interrupt = Interrupt::default();
    let mut crossing = Crossing::new(vec![place(servers[0].address())], MANY, 0, &NoObserver, &interrupt);
    let first = crossing.carry_out([Order::full(0, ID), Order::full(0, ID)])[0].observation.index;
    let of = |connection| Order { to: 0, asked: ID, session: Some(SessionOf { place: 0, connection: Some(connection) }) };
    let made = crossing.carry_out([of(first), of(first), of(77)]);
    assert_eq!(outcomes(&made), [(Some(0), 0, true); 2]);
    assert!(made.iter().all(|it| it.observation.offered.unwrap().origin.unwrap().index == first));
}

#[test]
fn limits_and_ctrl_c_end_it() {
    let servers = servers(1, EmbeddedResumption::Id);
    let interrupt = Interrupt::default();
    let few = CrossingLimits { connections: 5, ..MANY };
    let mut crossing = Crossing::new(vec![place(servers[0].address())], few, 0, &NoObserver, &interrupt);
    assert_eq!(crossing.carry_out([Order::full(0, TICKET); 9]).len(), 5);
    assert_eq!((crossing.ended(), crossing.connections_left()), (Some(CrossingEnd::Limit), 0));
    interrupt.raise();
    let mut crossing = Crossing::new(vec![place(servers[0].address())], MANY, 0, &NoObserver, &interrupt);
    assert_eq!(crossing.carry_out([Order::full(0, TICKET)]).len(), 0);
    assert_eq!(crossing.ended(), Some(CrossingEnd::Interrupted));
}
