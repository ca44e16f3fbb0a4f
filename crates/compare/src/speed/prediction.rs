//! What a handshake should cost by the operations that it needs and by another handshake of the same stack, beside what it costs.

use reprise_model::Kind;
use reprise_model::document::{SpeedFloor, SpeedHandshake, SpeedPrediction};

/// Of each stack and handshake, from another of the same version and kind that has another key or group. Both sides together. No figure of the
/// handshake that is predicted is in its prediction.
pub(super) fn predictions(floors: &[SpeedFloor]) -> Vec<SpeedPrediction> {
    let mut predictions = Vec::new();
    for pair in sides(floors) {
        for (stack, measured_ns, own_ns) in pair.handshakes() {
            // The nearest that there is: with the same group or key first.
            let mut others: Vec<Sides<'_>> = sides(floors).filter(|other| other.is_like(&pair)).collect();
            others.sort_by_key(|other| {
                u8::from(other.client.group != pair.client.group) + 2 * u8::from(!other.shares_with(&pair))
            });
            let base = others.into_iter().find_map(|other| {
                let (_, measured_ns, own_ns) = other.handshakes().find(|(known, ..)| *known == stack)?;
                Some((other.client, measured_ns - own_ns))
            });
            let Some((from, rest_ns)) = base else { continue };
            let predicted_ns = own_ns + rest_ns;
            predictions.push(SpeedPrediction {
                stack: stack.to_owned(),
                tls: pair.client.tls,
                kind: pair.client.kind,
                key: pair.client.key.clone(),
                group: pair.client.group.clone(),
                from_key: from.key.clone(),
                from_group: from.group.clone(),
                predicted_ns,
                measured_ns,
                error: predicted_ns / measured_ns.max(1.0) - 1.0,
            });
        }
    }
    predictions
}

/// Both sides of one handshake.
struct Sides<'a> {
    client: &'a SpeedFloor,
    server: &'a SpeedFloor,
}

/// The client's floor is followed by the server's.
fn sides(floors: &[SpeedFloor]) -> impl Iterator<Item = Sides<'_>> {
    floors.chunks_exact(2).filter_map(|pair| match pair {
        [client, server] => Some(Sides { client, server }),
        _ => None,
    })
}

impl<'a> Sides<'a> {
    /// Of each stack whose operations are all known: its name, what both sides take, and what their operations take.
    fn handshakes(&self) -> impl Iterator<Item = (&'a str, f64, f64)> + use<'a> {
        let server = self.server;
        self.client.handshakes.iter().filter_map(move |client| {
            let server = server.handshakes.iter().find(|it| it.stack == client.stack)?;
            let own = |it: &SpeedHandshake| it.own_operations_ns;
            let measured_ns = (client.median_ns + server.median_ns) as f64;
            Some((client.stack.as_str(), measured_ns, own(client)? + own(server)?))
        })
    }

    /// Whether the one may predict the other. A resumption has no key: another group makes it another handshake.
    fn is_like(&self, other: &Self) -> bool {
        let (one, other) = (self.client, other.client);
        let is_other = one.group != other.group || (one.kind == Kind::Full && one.key != other.key);
        (one.tls, one.kind) == (other.tls, other.kind) && is_other
    }

    fn shares_with(&self, other: &Self) -> bool {
        self.client.key == other.client.key || self.client.group == other.client.group
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_model::Version;
    use reprise_model::document::CompareSide;

    fn floor(key: &str, group: &str, side: CompareSide, median_ns: u64, own_ns: f64) -> SpeedFloor {
        let handshake =
            SpeedHandshake { stack: "it".to_owned(), n: 20, median_ns, ratio: 1.0, own_operations_ns: Some(own_ns) };
        SpeedFloor {
            tls: Version::Tls13,
            kind: Kind::Full,
            key: key.to_owned(),
            group: group.to_owned(),
            side,
            floor_ns: 1.0,
            operations: Vec::new(),
            handshakes: vec![handshake],
        }
    }

    #[test]
    fn a_prediction_takes_the_rest_from_another_handshake() {
        let floors = [
            floor("p-256", "x25519", CompareSide::Client, 150, 140.0),
            floor("p-256", "x25519", CompareSide::Server, 60, 50.0),
            floor("rsa-2048", "x25519", CompareSide::Client, 100, 80.0),
            floor("rsa-2048", "x25519", CompareSide::Server, 340, 320.0),
        ];
        let found = predictions(&floors);
        let shown: Vec<_> = found.iter().map(|it| (it.key.as_str(), it.from_key.as_str(), it.predicted_ns)).collect();
        assert_eq!(shown, [("p-256", "rsa-2048", 190.0 + 40.0), ("rsa-2048", "p-256", 400.0 + 20.0)]);
        assert!((found[1].error - (420.0 / 440.0 - 1.0)).abs() < 1e-9);
        assert!(predictions(&floors[..2]).is_empty(), "there is no other handshake");
    }
}
