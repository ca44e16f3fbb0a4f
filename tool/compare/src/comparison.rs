//! What is to be compared, how much, and with whom.

use std::path::Path;

use reprise_model::Kind;
use reprise_model::document::{CompareDocument, CompareOver, ComparedStack};

use crate::callgrind::Callgrind;
use crate::case::Case;
use crate::keys::{Certificates, Keys};
use crate::link::LinkPlan;
use crate::message::{Failed, Job};
use crate::scenario::Scenario;
use crate::stacks::FoundStack;

/// What is to be compared.
pub struct ComparisonPlan<'a> {
    /// Its name.
    pub scenario: Scenario,
    /// Its handshakes.
    pub cases: &'a [Case],
    /// The stacks.
    pub stacks: &'a [FoundStack],
    /// Whether each client is measured with each server, or each stack with itself alone.
    pub crossed: bool,
    /// Certificates of the keys of all cases.
    pub keys: &'a Keys,
    /// How much.
    pub effort: Effort,
    /// The seed of the order and of the intervals.
    pub seed: u64,
    /// What connections are made over.
    pub over: CompareOver,
    /// By what instructions are counted too.
    pub callgrind: Option<&'a Callgrind>,
    /// A result of the same run, which was interrupted.
    pub earlier: Option<&'a CompareDocument>,
    /// Over which links the handshakes are replayed in virtual time.
    pub links: Option<LinkPlan>,
    /// The file that counts the heap of a process that it is preloaded to.
    pub heap_counter: Option<&'a Path>,
}

impl ComparisonPlan<'_> {
    /// Each client with the servers that it is measured with.
    pub(crate) fn pairs<'d, 'a>(
        &self,
        stacks: &[&'d Described<'a>],
        crossed: bool,
    ) -> Vec<(&'d Described<'a>, &'d Described<'a>)> {
        let by_psk = self.cases.iter().any(|case| case.kind == Kind::Psk);
        let servers = || stacks.iter().copied().filter(|stack| stack.can("server"));
        let of_client = |client: &'d Described<'a>| -> Vec<_> {
            let own = servers().filter(|server| crossed || server.found == client.found);
            let mut own: Vec<_> = own.map(|server| (client, server)).collect();
            // Who is no server is measured with the first that there is, and that has what is compared.
            if own.is_empty() {
                let able = servers().find(|server| server.can("psk")).filter(|_| by_psk);
                own.extend(able.or_else(|| servers().next()).map(|server| (client, server)));
            }
            own
        };
        stacks.iter().copied().filter(|stack| stack.can("client")).flat_map(of_client).collect()
    }
}

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Samples of each pair and handshake.
    pub samples: u32,
    /// CPU time that one sample is to take, in nanoseconds: as many connections as that makes.
    pub sample_ns: u64,
}

impl Effort {
    /// What intervals of a per cent or two take.
    pub const USUAL: Self = Self { samples: 30, sample_ns: 10_000_000 };
    /// Enough for an order of the stacks.
    pub const QUICK: Self = Self { samples: 10, sample_ns: 4_000_000 };
}

/// Whoever waits for it.
pub trait Audience {
    /// From now on steps are of this kind, in the plural.
    fn begins(&mut self, steps: &'static str);
    /// So many steps of so many are done.
    fn proceeded(&mut self, done: u64, planned: u64);
    /// Whether it is to stop, with what there is.
    fn stops(&self) -> bool;
}

/// Samples of so many cells in a random order in which each cell precedes each equally often, until it is to stop.
pub(crate) fn in_turn(cells: usize, samples: usize, seed: u64, audience: &mut dyn Audience, mut sample: impl FnMut(usize)) {
    let order = reprise_stats::balanced_order(cells, samples, 0, seed);
    let planned = order.len() as u64;
    for (done, index) in order.into_iter().enumerate() {
        if audience.stops() {
            return;
        }
        audience.proceeded(done as u64, planned);
        sample(index);
    }
}

/// A stack, and what its process said of it.
pub(crate) struct Described<'a> {
    pub(crate) found: &'a FoundStack,
    pub(crate) info: Result<ComparedStack, Failed>,
}

impl Described<'_> {
    pub(crate) fn can(&self, ability: &str) -> bool {
        self.info.as_ref().is_ok_and(|info| info.abilities.iter().any(|known| known == ability))
    }
}

pub(crate) fn job(client: &FoundStack, server: &FoundStack, case: Case, certificates: &Certificates) -> Job {
    let (client, server) = (client.at.clone(), server.at.clone());
    Job { client, server, case, certificates: certificates.clone() }
}
