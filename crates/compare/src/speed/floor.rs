//! The floor: what the operations of a handshake cost at the best of all stacks, and how far each stack's handshake stands above it.

use reprise_model::document::{CompareDocument, CompareRow, CompareSide, SpeedFloor, SpeedHandshake, SpeedNeed, SpeedRow};

use super::handshake::{Need, cases, needs};
use crate::case::Case;

/// The floors of all handshakes, for both sides. A handshake of which an operation was not measured anywhere has none.
pub(super) fn floors(rows: &[SpeedRow], handshakes: Option<&CompareDocument>) -> Vec<SpeedFloor> {
    let sides = [CompareSide::Client, CompareSide::Server];
    let of_sides = cases().into_iter().flat_map(|case| sides.map(|side| (case, side)));
    of_sides.filter_map(|(case, side)| floor(rows, handshakes, &case, side)).collect()
}

fn floor(rows: &[SpeedRow], handshakes: Option<&CompareDocument>, case: &Case, side: CompareSide) -> Option<SpeedFloor> {
    let needs = needs(case, side);
    let operations: Vec<SpeedNeed> = needs.iter().map(|need| best(rows, need)).collect::<Option<_>>()?;
    let floor_ns: f64 = operations.iter().map(|need| need.once_ns * need.times as f64).sum();
    let document = case.document();
    let of_case = handshakes.into_iter().flat_map(|it| &it.rows).filter(|row| row.case == document);
    let mut handshakes: Vec<SpeedHandshake> = of_case
        .filter(|row| row.client == row.server)
        .map(|row| {
            let median_ns = side_of(row, side);
            let ratio = median_ns as f64 / floor_ns.max(1.0);
            let own_operations_ns = own(rows, &needs, &row.client);
            SpeedHandshake { stack: row.client.clone(), n: row.n, median_ns, ratio, own_operations_ns }
        })
        .collect();
    handshakes.sort_by_key(|it| it.median_ns);
    Some(SpeedFloor {
        tls: document.tls,
        kind: document.kind,
        key: document.key,
        group: document.group,
        side,
        floor_ns,
        operations,
        handshakes,
    })
}

fn side_of(row: &CompareRow, side: CompareSide) -> u64 {
    if side == CompareSide::Client { row.client_ns.median_ns } else { row.server_ns.median_ns }
}

/// The stack that is fastest at it: by the least of its samples, which no handshake can undercut.
fn best(rows: &[SpeedRow], need: &Need) -> Option<SpeedNeed> {
    let fastest = of(rows, need).min_by(|one, other| one.once.min_ns.total_cmp(&other.once.min_ns))?;
    Some(SpeedNeed {
        operation: fastest.operation,
        algorithm: fastest.algorithm.clone(),
        times: need.times,
        stack: fastest.stack.clone(),
        once_ns: fastest.once.min_ns,
    })
}

/// What the same operations take this stack.
fn own(rows: &[SpeedRow], needs: &[Need], stack: &str) -> Option<f64> {
    needs.iter().map(|need| Some(of(rows, need).find(|row| row.stack == stack)?.once.median_ns * need.times as f64)).sum()
}

fn of<'a>(rows: &'a [SpeedRow], need: &Need) -> impl Iterator<Item = &'a SpeedRow> {
    let (operation, algorithm) = (need.primitive.operation, need.primitive.algorithm);
    rows.iter().filter(move |row| row.operation == operation && row.algorithm == algorithm && row.instructions)
}
