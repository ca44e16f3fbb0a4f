//! What the application answers: whether resumed connections get errors since they are resumed.

/// What a connection was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answered {
    /// Well, or nothing was asked.
    #[default]
    Well,
    /// With an error that asks for something else: a certificate, another name.
    Error,
    /// With an error as of a node that cannot answer.
    Unavailable,
}

/// How often full and resumed connections were answered well, and with an error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    full: Counts,
    resumed: Counts,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    well: u32,
    errors: u32,
}

/// How probable it is beforehand that resumed connections are answered otherwise.
const DIFFERS: f64 = 0.02;
/// How probable it is where they are not that some of all connections get errors, as of nodes that are ill.
const SOME_FAIL: f64 = 0.1;
/// How often an error comes for no known reason.
const UNEXPLAINED: f64 = 0.02;
/// Shares of resumed connections that get errors where those do.
const SHARES: [f64; 3] = [1.0 - UNEXPLAINED, 0.75, 0.5];

impl Answers {
    pub(crate) fn note(&mut self, is_resumed: bool, answered: Answered) {
        let counts = if is_resumed { &mut self.resumed } else { &mut self.full };
        match answered {
            Answered::Well => counts.well += 1,
            Answered::Error | Answered::Unavailable => counts.errors += 1,
        }
    }

    /// Whether there was an error at all.
    pub(crate) fn has_errors(&self) -> bool {
        self.full.errors + self.resumed.errors > 0
    }

    /// Whether fewer full connections than resumed ones were answered.
    pub(crate) fn lacks_full(&self) -> bool {
        self.full.well + self.full.errors < self.resumed.well + self.resumed.errors
    }

    /// How much likelier it is that resumed connections get errors since they are resumed than that they do not.
    pub(crate) fn odds(&self) -> f64 {
        if !self.has_errors() {
            return 0.0;
        }
        let of_full = self.full.log_probability(UNEXPLAINED);
        let differs = SHARES.map(|share| (of_full + self.resumed.log_probability(share)).exp() / SHARES.len() as f64);
        let all = Counts { well: self.full.well + self.resumed.well, errors: self.full.errors + self.resumed.errors };
        let alike = (1.0 - SOME_FAIL) * all.log_probability(UNEXPLAINED).exp() + SOME_FAIL * all.log_evidence().exp();
        DIFFERS * differs.iter().sum::<f64>() / ((1.0 - DIFFERS) * alike).max(1e-300)
    }
}

impl Counts {
    /// Of these answers in their order where errors come with this probability.
    fn log_probability(&self, share: f64) -> f64 {
        f64::from(self.well) * (1.0 - share).ln() + f64::from(self.errors) * share.ln()
    }

    /// The same where every probability is as probable as another: 1 / ((n + 1) · n over errors).
    fn log_evidence(&self) -> f64 {
        let all = self.well + self.errors;
        let choices = (1..=self.errors).map(|it| (f64::from(self.well + it) / f64::from(it)).ln());
        -f64::from(all + 1).ln() - choices.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odds(full: [u32; 2], resumed: [u32; 2]) -> f64 {
        let of = |[well, errors]: [u32; 2]| Counts { well, errors };
        Answers { full: of(full), resumed: of(resumed) }.odds()
    }

    #[test]
    fn errors_of_resumed_connections_alone_differ() {
        assert!(odds([8, 0], [0, 8]) > 1000.0, "{}", odds([8, 0], [0, 8]));
        assert!(odds([10, 0], [3, 7]) > 20.0, "{}", odds([10, 0], [3, 7]));
    }

    #[test]
    fn errors_of_all_connections_do_not_differ() {
        for (full, resumed) in [([4, 0], [12, 0]), ([3, 3], [5, 4]), ([5, 1], [10, 1]), ([0, 6], [0, 6]), ([0, 6], [6, 0])] {
            assert!(odds(full, resumed) < 1.0, "{full:?} {resumed:?}: {}", odds(full, resumed));
        }
    }
}
