//! Hypotheses of several nodes. Which node answered each connection is hidden: a particle filter follows it.

use crate::attempt::{ConnectionOutcome, JudgedConnection, SeenConnection, key_likelihood, likelihood};
use crate::hypothesis::Hypothesis;
use crate::one_node::KeyNames;
use crate::route::{POSITIONS, Positions, Route};

/// How many particles follow each hypothesis.
const PARTICLES: usize = 16;

/// One hypothesis and how probable it has become.
#[derive(Clone, Debug)]
pub(crate) struct Routed {
    hypothesis: Hypothesis,
    route: Route,
    particles: Vec<Particle>,
    /// Where the next generation is written, so that a path's memory is used again.
    spare: Vec<Particle>,
    pub(crate) log_weight: f64,
}

/// The positions of all connections as they may have been.
#[derive(Debug, Default)]
struct Particle {
    weight: f64,
    /// The position of each connection.
    path: Vec<u8>,
    /// The key name of each node, once seen.
    names: [Option<u32>; POSITIONS],
}

/// A particle and the position that its next connection may take.
struct Branch {
    weight: f64,
    particle: usize,
    position: usize,
}

impl Clone for Particle {
    fn clone(&self) -> Self {
        Self { weight: self.weight, path: self.path.clone(), names: self.names }
    }

    fn clone_from(&mut self, source: &Self) {
        self.weight = source.weight;
        self.path.clone_from(&source.path);
        self.names = source.names;
    }
}

impl Routed {
    pub(crate) fn new(hypothesis: Hypothesis, route: Route) -> Self {
        let particles = vec![Particle { weight: 1.0, ..Particle::default() }];
        Self { log_weight: hypothesis.prior.ln(), hypothesis, route, particles, spare: Vec::new() }
    }

    pub(crate) fn hypothesis(&self) -> &Hypothesis {
        &self.hypothesis
    }

    pub(crate) fn route(&self) -> &Route {
        &self.route
    }

    /// `lot` of 0 to 1 decides which unlikely paths are dropped. It is the same for all hypotheses, so that those stay equal that
    /// differ in nothing yet.
    pub(crate) fn observe(&mut self, attempt: &JudgedConnection, seen: &SeenConnection, names: &KeyNames, lot: f64) {
        let known = attempt.offered.map_or(0.0, |offered| self.hypothesis.memory.knows(attempt, &offered));
        // A node that is down accepts nothing.
        let down = if seen.outcome == ConnectionOutcome::Broken { 0.0 } else { 1.0 };
        let [same, other, fallen] = [(known, 0.0), (0.0, 0.0), (0.0, down)]
            .map(|(resumed, failed)| likelihood(attempt, seen.outcome, resumed, failed));
        let [same_breaking, other_breaking] =
            [known, 0.0].map(|known| self.likelihood_of_breaking(attempt, known, seen.outcome));
        let key = seen.comparable_key(attempt);
        let is_new_name = key.is_some_and(|key| !names.counts.contains_key(&key));
        let (start, transitions) = (self.route.start(), self.route.transitions(attempt.gap));
        let mut branches = Vec::with_capacity(PARTICLES * self.route.len());
        for (place, particle) in self.particles.iter().enumerate() {
            let ahead = particle.path.last().map_or(&start, |last| &transitions[usize::from(*last)]);
            let home = attempt.offered.and_then(|offered| self.home(particle, offered.from));
            for (position, probability) in ahead.iter().enumerate().take(self.route.len()) {
                let node = self.route.nodes[position];
                let mut weight = particle.weight * probability;
                let is_home = home == Some(node) && self.route.off != Some(position);
                weight *= match (is_home, self.breaks(position)) {
                    _ if self.route.down == Some(position) => fallen,
                    (true, false) => same,
                    (false, false) => other,
                    (true, true) => same_breaking,
                    (false, true) => other_breaking,
                };
                if let Some(key) = key {
                    let expected = particle.names[usize::from(node)];
                    // A node that was not seen yet brings a name that no other has.
                    let is_expected = match expected {
                        Some(expected) => expected == key,
                        None => is_new_name || !particle.names.contains(&Some(key)),
                    };
                    weight *= key_likelihood(is_expected);
                }
                if weight > 0.0 {
                    branches.push(Branch { weight, particle: place, position });
                }
            }
        }
        let evidence: f64 = branches.iter().map(|it| it.weight).sum::<f64>() + 1e-300;
        self.log_weight += evidence.ln();
        branches.iter_mut().for_each(|it| it.weight /= evidence);
        self.keep(&branches, key, lot, seen.outcome);
    }

    /// Whether connections to this position fail since they offer a session.
    fn breaks(&self, position: usize) -> bool {
        self.hypothesis.breaking.is_some() && self.route.breaks.is_none_or(|it| it == position)
    }

    /// The same as of [`likelihood`] at a position that breaks connections.
    fn likelihood_of_breaking(&self, attempt: &JudgedConnection, known: f64, outcome: ConnectionOutcome) -> f64 {
        let Some((breaking, offered)) = self.hypothesis.breaking.zip(attempt.offered) else {
            return likelihood(attempt, outcome, known, 0.0);
        };
        let resumed = breaking.resumed(known, breaking.failing(&offered, known));
        likelihood(attempt, outcome, resumed, breaking.failing_so(&offered, known, outcome))
    }

    /// The node that knows the session of this connection.
    fn home(&self, particle: &Particle, from: usize) -> Option<u8> {
        let position = usize::from(*particle.path.get(from)?);
        (self.route.off != Some(position)).then(|| self.route.nodes[position])
    }

    /// Keeps as many branches as there are particles: the likely ones as they are, of the others some by lot (Fearnhead and
    /// Clifford, "On-line inference for hidden Markov models via particle filters", Journal of the Royal Statistical Society B 65,
    /// 2003).
    fn keep(&mut self, branches: &[Branch], key: Option<u32>, lot: f64, outcome: ConnectionOutcome) {
        let limit = keep_limit(branches);
        let mut next = std::mem::take(&mut self.spare);
        next.resize_with(PARTICLES, Particle::default);
        let (mut kept, mut edge) = (0, lot);
        for branch in branches {
            let is_kept = branch.weight >= limit || {
                let before = edge.floor();
                edge += branch.weight / limit;
                edge.floor() > before
            };
            if is_kept && kept < PARTICLES {
                let particle = &mut next[kept];
                particle.clone_from(&self.particles[branch.particle]);
                particle.weight = branch.weight.max(limit);
                particle.path.push(branch.position as u8);
                if let Some(key) = key.filter(|_| !outcome.is_failure()) {
                    particle.names[usize::from(self.route.nodes[branch.position])] = Some(key);
                }
                kept += 1;
            }
        }
        next.truncate(kept);
        let sum: f64 = next.iter().map(|it| it.weight).sum::<f64>().max(1e-300);
        next.iter_mut().for_each(|it| it.weight /= sum);
        self.spare = std::mem::replace(&mut self.particles, next);
    }

    /// Where the next connection goes after `gap` seconds: for each particle, the probabilities of the positions.
    pub(crate) fn ahead(&self, gap: f64) -> Vec<Positions> {
        let (start, transitions) = (self.route.start(), self.route.transitions(gap));
        let from = |particle: &Particle| particle.path.last().map_or(start, |last| transitions[usize::from(*last)]);
        self.particles.iter().map(from).collect()
    }

    /// As of [`crate::one_node::OneNode::predict`], where `ahead` is of the attempt's gap.
    pub(crate) fn predict(&self, attempt: &JudgedConnection, ahead: &[Positions]) -> (f64, f64) {
        let known = attempt.offered.map_or(0.0, |offered| self.hypothesis.memory.knows(attempt, &offered));
        let (mut failed, mut resumed) = (0.0, 0.0);
        for (particle, ahead) in self.particles.iter().zip(ahead) {
            let home = attempt.offered.and_then(|offered| self.home(particle, offered.from));
            for (position, node) in self.route.nodes.iter().enumerate() {
                let probability = particle.weight * ahead[position];
                let is_home = home == Some(*node) && self.route.off != Some(position);
                let known = if is_home { known } else { 0.0 };
                let breaking = self.hypothesis.breaking.zip(attempt.offered).filter(|_| self.breaks(position));
                let failing = match breaking {
                    _ if self.route.down == Some(position) => 1.0,
                    Some((breaking, offered)) => breaking.failing(&offered, known),
                    None => 0.0,
                };
                let kept = breaking.map_or(known, |(breaking, _)| breaking.resumed(known, failing));
                failed += probability * failing;
                resumed += probability * (1.0 - failing) * kept;
            }
        }
        ((resumed / (1.0 - failed).max(1e-9)).min(1.0), failed.min(1.0))
    }
}

/// The weight above which a branch is kept as it is.
fn keep_limit(branches: &[Branch]) -> f64 {
    let mut limit: f64 = 1.0 / PARTICLES as f64;
    for _ in 0..6 {
        let is_likely = |it: &&Branch| it.weight >= limit;
        let room = PARTICLES.saturating_sub(branches.iter().filter(is_likely).count()).max(1);
        let rest: f64 = branches.iter().filter(|it| it.weight < limit).map(|it| it.weight).sum();
        limit = limit.min((rest / room as f64).max(1e-30));
    }
    limit
}
