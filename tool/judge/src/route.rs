//! The way from the client to a node.

/// How many positions a route has at most.
pub(crate) const POSITIONS: usize = 8;

/// Positions, of which each connection takes one, and the node at each. Positions of the same node share all that it remembers.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) choice: Choice,
    /// The node at each position.
    pub(crate) nodes: Vec<u8>,
    /// The position whose node accepts no session.
    pub(crate) off: Option<usize>,
    /// The position that answers nothing.
    pub(crate) down: Option<usize>,
    /// The only position at which offers break connections, where a hypothesis says that they do; `None` is each.
    pub(crate) breaks: Option<usize>,
}

/// Which position the next connection takes.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// The next one. Other clients take `others_a_second` in between; `jumps` is how often it is any.
    InTurn { others_a_second: f64, jumps: f64 },
    /// By these weights; `stays` is how often it is the same as before.
    ByChance { weights: Vec<f64>, stays: f64 },
}

/// A probability for each position.
pub(crate) type Positions = [f64; POSITIONS];

impl Route {
    pub(crate) fn in_turn(nodes: &[u8], others_a_second: f64, jumps: f64) -> Self {
        Self {
            choice: Choice::InTurn { others_a_second, jumps },
            nodes: nodes.to_vec(),
            off: None,
            down: None,
            breaks: None,
        }
    }

    pub(crate) fn by_chance(nodes: &[u8], weights: &[f64], stays: f64) -> Self {
        Self {
            choice: Choice::ByChance { weights: weights.to_vec(), stays },
            nodes: nodes.to_vec(),
            off: None,
            down: None,
            breaks: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Where the first connection goes. Where all positions are alike, it may be called the first of them.
    pub(crate) fn start(&self) -> Positions {
        let mut start = [0.0; POSITIONS];
        let is_distinct = self.nodes.iter().enumerate().all(|(place, node)| usize::from(*node) == place);
        let is_plain = self.off.or(self.down).or(self.breaks).is_none();
        match &self.choice {
            Choice::InTurn { .. } if is_distinct && is_plain => start[0] = 1.0,
            Choice::ByChance { weights, .. }
                if is_distinct && is_plain && weights.windows(2).all(|pair| pair[0] == pair[1]) =>
            {
                start[0] = 1.0;
            }
            Choice::InTurn { .. } => start[..self.len()].fill(1.0 / self.len() as f64),
            Choice::ByChance { weights, .. } => start[..self.len()].copy_from_slice(weights),
        }
        start
    }

    /// Where the next connection goes from each position, after so many seconds.
    pub(crate) fn transitions(&self, gap: f64) -> [Positions; POSITIONS] {
        let size = self.len();
        let mut ahead = [[0.0; POSITIONS]; POSITIONS];
        match &self.choice {
            Choice::InTurn { others_a_second, jumps } => {
                let advance = advance(size, (others_a_second * gap).min(40.0));
                for (from, row) in ahead.iter_mut().enumerate().take(size) {
                    for (to, cell) in row.iter_mut().enumerate().take(size) {
                        let by = (to + 2 * size - from - 1) % size;
                        *cell = (1.0 - jumps) * advance[by] + jumps / size as f64;
                    }
                }
            }
            Choice::ByChance { weights, stays } => {
                for (from, row) in ahead.iter_mut().enumerate().take(size) {
                    for (to, cell) in row.iter_mut().enumerate().take(size) {
                        *cell = (1.0 - stays) * weights[to] + if from == to { *stays } else { 0.0 };
                    }
                }
            }
        }
        ahead
    }
}

/// The probability of advancing by so many positions beyond the next: a Poisson number, modulo `size`.
fn advance(size: usize, mean: f64) -> Positions {
    let mut by = [0.0; POSITIONS];
    let (mut probability, mut sum) = ((-mean).exp(), 0.0);
    for count in 0..10 {
        by[count % size] += probability;
        sum += probability;
        probability *= mean / (count + 1) as f64;
    }
    let rest = (1.0 - sum).max(0.0) / size as f64;
    by[..size].iter_mut().for_each(|it| *it += rest);
    by
}
