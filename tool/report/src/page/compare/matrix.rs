//! Which kinds of handshake work between which stacks.

use reprise_model::document::CompareMatrixCell;
use reprise_model::{Kind, PskMode};
use reprise_page::table::{Rows, Table};
use reprise_page::{Block, grouped};

use super::words::psk_ke;

/// As many columns as a page has beside the clients' names.
const WIDTH: usize = 80;

const LEGEND: &str = "f full, i session ID, t ticket, k ticket without a key exchange, e early data, p external \
    PSK, pk the same without a key exchange; 2 and 3 for TLS 1.2 and 1.3; ✗ fails. What is not named is not supported.";

/// Tables with as many servers as a page is wide; nothing where nothing was tried.
pub(super) fn blocks(matrix: &[CompareMatrixCell]) -> Vec<Block> {
    if matrix.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("What works with what".to_owned())];
    blocks.extend(tables(matrix).into_iter().map(Block::Table));
    blocks.push(Block::Aside(LEGEND.to_owned()));
    blocks
}

fn tables(matrix: &[CompareMatrixCell]) -> Vec<Table> {
    let clients = grouped(matrix, |cell| &cell.client);
    let (mut tables, mut width) = (Vec::new(), 0);
    let mut rows = Rows::of(&clients).words("client \\ server", |(client, _)| *client);
    for (server, of_server) in grouped(matrix, |cell| &cell.server) {
        let of_client = |client: &str| {
            let of_pair = of_server.iter().filter(|cell| cell.client == client);
            of_pair.filter_map(|cell| shown(cell)).collect::<Vec<_>>().join(" ")
        };
        let widest = clients.iter().map(|(client, _)| of_client(client).chars().count()).max().unwrap_or_default();
        let column = widest.max(server.chars().count()) + 2;
        if width > 0 && width + column > WIDTH {
            let next = Rows::of(&clients).words("client \\ server", |(client, _)| *client);
            tables.push(std::mem::replace(&mut rows, next).table());
            width = 0;
        }
        width += column;
        rows = rows.words(server, |(client, _)| of_client(client));
    }
    tables.push(rows.table());
    tables
}

/// What fails for one reason between two stacks is said once.
pub(super) fn failures(matrix: &[CompareMatrixCell]) -> Vec<String> {
    let fails = |cell: &&CompareMatrixCell| !["works", "unsupported"].contains(&cell.outcome.as_str());
    let groups = grouped(matrix.iter().filter(fails), |it| (&it.client, &it.server, &it.outcome, it.reason.as_deref()));
    let handshake = |it: &&CompareMatrixCell| format!("{} {}{}", it.tls.number(), it.kind, psk_ke(it.psk_mode));
    let sentences = groups.into_iter().map(|((client, server, outcome, reason), cells)| {
        let handshakes: Vec<String> = cells.iter().map(handshake).collect();
        format!("{client} with {server}, {}: {outcome}, {}", handshakes.join(", "), reason.unwrap_or_default())
    });
    sentences.collect()
}

/// `f2`, `t3✗`; nothing of what is not supported.
fn shown(cell: &CompareMatrixCell) -> Option<String> {
    let kind = match cell.psk_mode {
        Some(PskMode::PskKe) if cell.kind == Kind::Psk => "pk",
        Some(PskMode::PskKe) => "k",
        _ => cell.kind.name().get(..1).unwrap_or_default(),
    };
    let version = cell.tls.number().get(2..).unwrap_or_default();
    match cell.outcome.as_str() {
        "works" => Some(format!("{kind}{version}")),
        "unsupported" => None,
        _ => Some(format!("{kind}{version}✗")),
    }
}
