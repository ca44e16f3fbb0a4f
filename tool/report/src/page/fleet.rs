//! Who of several nodes accepts whose sessions: a sentence, a picture, the groups.

use reprise_model::document::{Fleet, FleetCell, FleetGroup, FleetMechanism, FleetNode};
use reprise_model::{Asked, Kind};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Shown, counted};

use super::findings::items;

/// Of so many nodes each has its row and its column: more do not fit beside each other.
const PICTURED: usize = 12;

/// So many groups are shown, the largest.
const GROUPS: usize = 8;

/// All that is shown of a fleet.
pub(super) fn fleet(fleet: &Fleet, shown: Shown) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(fleet.verdict.clone())];
    let facts: Vec<Fact> = fleet.mechanisms.iter().map(|mechanism| fact(mechanism, fleet.are_addresses)).collect();
    if !facts.is_empty() {
        blocks.push(Block::Facts(facts));
    }
    if fleet.incomplete {
        blocks.push(Block::warning("Incomplete: these are the offers made until then"));
    }
    blocks.extend(items(&fleet.findings, None, shown));
    if fleet.nodes.len() <= PICTURED {
        blocks.push(Block::Table(nodes(fleet)));
        blocks.extend(pictured(fleet).into_iter().map(|asked| Block::Table(matrix(fleet, asked))));
        if !fleet.matrix.is_empty() {
            blocks.push(Block::Aside(
                "Sessions of the node in the row, offered to the node in the column: resumed/offered".to_owned(),
            ));
        }
    } else {
        blocks.push(Block::Table(groups(fleet)));
        let rest = fleet.groups.get(GROUPS..).unwrap_or_default();
        if !rest.is_empty() {
            let nodes: usize = rest.iter().map(|group| group.nodes.len()).sum();
            blocks.push(Block::Aside(format!("And {} more groups, of {nodes} nodes: all stand in the JSON", rest.len())));
        }
        let unreached = fleet.nodes.iter().filter(|node| !node.reached).count();
        if unreached > 0 {
            blocks.push(Block::warning(format!("{unreached} of {} nodes were not reached", fleet.nodes.len())));
        }
    }
    blocks.extend(fleet.warnings.iter().map(Block::warning));
    let how = if fleet.sampled { ", groups checked by sampling" } else { "" };
    blocks.push(Block::Aside(format!("{} in {:.1} s{how}", counted(fleet.connections.into(), "connection"), fleet.seconds)));
    blocks
}

/// "TLS 1.3 ticket: 59 % of offers resumed behind a fair balancer (53 to 65 %), own 24 of 24, others 12 of 56".
/// Of the addresses of one name, among which no balancer chooses, the counts alone.
fn fact(mechanism: &FleetMechanism, are_addresses: bool) -> Fact {
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    let [low, high] = mechanism.ci95;
    let cost = match mechanism.cost_ns {
        Some(cost) if cost.0 > 0 => format!(", costs {cost} a connection"),
        _ => String::new(),
    };
    let [own, crossed] = [mechanism.own, mechanism.crossed];
    if are_addresses {
        let value =
            format!("own {} of {} resume, those of other addresses {} of {}", own[1], own[0], crossed[1], crossed[0]);
        return Fact::new(mechanism.asked.to_string(), value);
    }
    let value = format!(
        "{} % resume behind a fair balancer ({} to {}){cost}; own {} of {}, others' {} of {}",
        percent(mechanism.shared),
        percent(low),
        percent(high),
        own[1],
        own[0],
        crossed[1],
        crossed[0],
    );
    Fact::new(mechanism.asked.to_string(), value)
}

/// The letter that stands for a node in the picture.
fn letter(place: usize) -> String {
    u8::try_from(place)
        .ok()
        .filter(|place| *place < 26)
        .map_or_else(|| (place + 1).to_string(), |place| char::from(b'a' + place).to_string())
}

/// Each node with what tells it from the others.
fn nodes(fleet: &Fleet) -> Table {
    let group_of = |place: usize| fleet.groups.iter().position(|group| group.nodes.contains(&place));
    let versions = |node: &FleetNode| node.versions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let versions = |node: &FleetNode| versions(node).replace("TLS ", "");
    Rows::of(fleet.nodes.iter().enumerate())
        .words("", |(place, _)| letter(place))
        .words("node", |(_, node)| &node.target)
        .words("group", |(place, _)| group_of(place).map(|group| (group + 1).to_string()).unwrap_or_default())
        .words("key", |(_, node)| keys(&node.key_names))
        .words("certificate", |(_, node)| node.certificate.as_deref().map(short).unwrap_or_default())
        .dispensable(2)
        .words("versions", |(_, node)| versions(node))
        .dispensable(3)
        .words("clock", |(_, node)| node.clock_s.map(clock).unwrap_or_default())
        .dispensable(1)
        // "Apache/2.4.71 (Debian) OpenSSL/3.0.19" is Apache/2.4.71.
        .words("software", |(_, node)| node.software.as_deref().and_then(|it| it.split(' ').next()).unwrap_or_default())
        .dispensable(0)
        .noted(|(_, node)| node.failure.as_ref().filter(|_| !node.reached).map(|failure| format!("not reached: {failure}")))
        .toned(|(place, node)| match group_of(place).and_then(|group| fleet.groups.get(group)) {
            _ if !node.reached => Tone::Fault,
            Some(group) if group.nodes.len() == 1 && fleet.nodes.len() > 1 => Tone::Warning,
            _ => Tone::Plain,
        })
        .table()
}

/// "+3 s"; nothing where it goes right.
fn clock([least, most]: [i64; 2]) -> String {
    match (least, most) {
        (1.., _) => format!("+{least} s"),
        (_, ..=-1) => format!("{most} s"),
        _ => String::new(),
    }
}

fn short(hex: &str) -> String {
    match hex.char_indices().nth(8) {
        Some((end, _)) => format!("{}…", hex.get(..end).unwrap_or_default()),
        None => hex.to_owned(),
    }
}

/// The last, and how many there were before.
fn keys(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => short(one),
        [first @ .., last] => format!("{} (+{})", short(last), first.len()),
    }
}

/// The mechanisms whose offers are pictured: those of which sessions of other nodes were offered.
fn pictured(fleet: &Fleet) -> Vec<Asked> {
    fleet.mechanisms.iter().filter(|mechanism| mechanism.crossed[0] > 0).map(|mechanism| mechanism.asked).collect()
}

/// A row for each node whose sessions were offered, a column for each that they were offered to.
fn matrix(fleet: &Fleet, asked: Asked) -> Table {
    let cell = |from: usize, to: usize| -> Option<&FleetCell> {
        fleet.matrix.iter().find(|it| (it.from, it.to, it.tls, it.kind) == (from, to, asked.tls, asked.kind))
    };
    let places = 0..fleet.nodes.len();
    let mut rows = Rows::of(places.clone()).words(&short_name(asked), letter);
    for to in places {
        rows = rows.words(&letter(to), |from| match cell(from, to) {
            Some(cell) => format!("{}/{}", cell.accepted, cell.offered),
            None => "–".to_owned(),
        });
    }
    let is_refused = |from: usize| {
        fleet
            .matrix
            .iter()
            .any(|it| it.from == from && (it.tls, it.kind) == (asked.tls, asked.kind) && it.accepted < it.offered)
    };
    rows.toned(|from| if is_refused(from) { Tone::Warning } else { Tone::Plain }).table()
}

/// "1.3 ticket".
fn short_name(asked: Asked) -> String {
    let kind = if asked.kind == Kind::Id { "ID" } else { asked.kind.name() };
    format!("{} {kind}", asked.tls.to_string().trim_start_matches("TLS "))
}

/// Of many nodes the largest groups.
fn groups(fleet: &Fleet) -> Table {
    let some = |group: &FleetGroup| {
        let names = group.nodes.iter().take(3).filter_map(|node| fleet.nodes.get(*node)).map(|node| node.target.as_str());
        let more = if group.nodes.len() > 3 { ", …" } else { "" };
        names.collect::<Vec<_>>().join(", ") + more
    };
    Rows::of(fleet.groups.iter().take(GROUPS))
        .figures("nodes", "", |group| Figure::count(group.nodes.len() as u64))
        .words("key", |group| keys(&group.key_names))
        .words("of them", some)
        .toned(|group| if group.nodes.len() == 1 { Tone::Warning } else { Tone::Plain })
        .table()
}
