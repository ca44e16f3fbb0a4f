//! How far the model is off for what a change touches: the same change, made in memory between the two stacks, in the same run.

use reprise_lab::KeyKind;
use reprise_model::document::CompareOver;
use reprise_model::{Kind, Operation};
use reprise_pairs::{Audience, Case, Key, Launcher};
use reprise_speed::{Handshake, SpeedPlan, Step, Work, catalogue, handshakes};
use reprise_wire::NamedGroup;

use crate::layout::Costs;
use crate::plan::ExplainPlan;

/// A handshake and what it is changed to, as both can be made in memory: with a chain of the leaf alone, by SHA-256.
pub(crate) struct Made {
    cases: [Case; 2],
    handshakes: [Handshake; 2],
}

impl Made {
    /// `None` where one of them is no handshake of the lab.
    pub(crate) fn of(base: &Handshake, changed: &Handshake) -> Option<Self> {
        let as_made = |it: &Handshake| Handshake { hash: "sha-256", certificates: 1, ..it.clone() };
        Some(Self { cases: [case(base)?, case(changed)?], handshakes: [as_made(base), as_made(changed)] })
    }

    /// The operations of both.
    pub(crate) fn works(&self) -> impl Iterator<Item = Work> {
        self.handshakes.iter().flat_map(Handshake::steps).filter_map(Step::work)
    }

    /// CPU time of both sides by which the change is off from what its operations say; `None` where it could not be made.
    pub(crate) fn error_ns(
        &self,
        plan: &ExplainPlan<'_>,
        costs: &Costs<'_>,
        launcher: &Launcher,
        audience: &mut dyn Audience,
    ) -> Option<f64> {
        let [base, changed] = self.cases.map(|case| case.document());
        if base == changed {
            return Some(0.0);
        }
        let own = [plan.server.clone()];
        let both = [plan.client.clone(), plan.server.clone()];
        let speed_plan = SpeedPlan {
            primitives: &[],
            stacks: if plan.client == plan.server { &own } else { &both },
            effort: plan.effort,
            without_instructions: false,
            floor: false,
            over: CompareOver::Memory,
            seed: plan.seed,
        };
        let made = handshakes(&speed_plan, &self.cases, true, launcher, audience)?;
        let is_pair = |client: &str, server: &str| client == plan.client.name && server == plan.server.name;
        let measured = |case| {
            let row = made.iter().find(|row| row.case == case && is_pair(&row.client, &row.server))?;
            Some((row.client_ns.median_ns + row.server_ns.median_ns) as f64)
        };
        let [of_base, of_changed] = self.handshakes.each_ref().map(|it| costs.of_all(it));
        let by_operations = of_changed? - of_base?;
        Some((measured(changed)? - measured(base)? - by_operations).abs())
    }
}

fn case(handshake: &Handshake) -> Option<Case> {
    let all = catalogue();
    let by_name = |operation, name: &str| all.iter().find(|it| it.operation == operation && it.algorithm == name);
    let key = match &handshake.key {
        Some(key) => by_name(Operation::Sign, key)?.key?,
        // What a session was begun with is of no account.
        None => (handshake.kind != Kind::Full).then_some(KeyKind::P256)?,
    };
    let group = match &handshake.group {
        Some(group) => NamedGroup(by_name(Operation::KeyPair, group)?.number),
        None => (handshake.kind != Kind::Full).then_some(NamedGroup::X25519)?,
    };
    let is_ours = matches!(handshake.kind, Kind::Full | Kind::Id | Kind::Ticket);
    Case::new(handshake.version, handshake.kind, Key::Lab(key), group, handshake.mutual).filter(|_| is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::example;

    #[test]
    fn what_the_lab_can_make_is_made() {
        let full = example(Kind::Full, 200, 2000).handshake;
        let with = |key: &str| Handshake { key: Some(key.to_owned()), ..full.clone() };
        let made = Made::of(&full, &with("p-384")).unwrap();
        assert_eq!(made.cases.map(|case| case.document().key), ["rsa-2048", "p-384"]);
        assert!(made.works().any(|work| work.operation == Operation::Sign && work.algorithm == "p-384"));
        let ticket = example(Kind::Ticket, 200, 500).handshake;
        assert!(Made::of(&full, &ticket).is_some() && Made::of(&full, &with("dsa")).is_none());
        let static_rsa = Handshake { group: None, ..full.clone() };
        assert!(Made::of(&full, &static_rsa).is_none(), "the secret is encrypted to the server's key");
    }
}
