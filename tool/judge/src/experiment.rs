//! The experiments, as data: which session is offered, what is varied, and when.

use crate::attempt::OfferVariation;
use crate::cause::JudgedCause;

/// One step of an experiment: a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) session: Pick,
    pub(crate) variation: OfferVariation,
    /// Seconds since the connection before; at once where it is `None`.
    pub(crate) after: Option<f64>,
}

impl Step {
    /// A full handshake, at once.
    pub(crate) const PLAIN: Self = step(Pick::None);
}

/// Which session is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// None.
    None,
    /// That of so many connections ago.
    Ago(usize),
    /// The one that was offered last.
    Again,
    /// The newest that was never resumed.
    Unused,
    /// That of the first connection of this experiment.
    First,
}

/// Several connections that show together what none shows alone.
pub(crate) struct Series {
    /// The causes that it tells from others: it is made while one of them is open.
    pub(crate) tells: &'static [JudgedCause],
    pub(crate) steps: &'static [Step],
}

const fn step(session: Pick) -> Step {
    Step { session, variation: OfferVariation::Plain, after: None }
}

const fn after(seconds: f64, step: Step) -> Step {
    Step { after: Some(seconds), ..step }
}

/// A wait that is none: so soon that other clients have no room in between, where the link allows that.
pub(crate) const QUICK: f64 = 0.001;

/// The first connections of an examination.
pub(crate) const OPENING: &[Step] = &[step(Pick::None), step(Pick::Ago(1)), step(Pick::Ago(1)), step(Pick::Ago(1))];

/// What one connection can show: its gain is computed exactly.
pub(crate) fn singles() -> Vec<Step> {
    let mut all = vec![step(Pick::None), step(Pick::Again), step(Pick::Unused)];
    all.extend([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 26].map(|count| step(Pick::Ago(count))));
    all.extend([1, 2, 3, 4].map(|count| after(QUICK, step(Pick::Ago(count)))));
    for variation in OfferVariation::CHANGES {
        let varied = |session: Pick| Step { variation, ..step(session) };
        all.push(varied(Pick::Unused));
        all.extend([2, 3, 4].map(|count| varied(Pick::Ago(count))));
    }
    all.extend([0.5, 2.0].iter().flat_map(|wait| [2, 3, 4].map(|count| after(*wait, step(Pick::Ago(count))))));
    all.extend([0.2, 0.5, 1.0, 2.0, 4.0, 8.0].map(|wait| after(wait, step(Pick::Unused))));
    all
}

const FULL: Step = Step::PLAIN;
const FIRST: Step = after(QUICK, step(Pick::First));

/// What is made where no single connection shows much.
pub(crate) const SERIES: &[Series] = &[
    Series {
        tells: &[JudgedCause::Capacity],
        steps: &[FULL, FULL, FULL, FULL, FULL, FULL, FULL, FULL, FULL, FULL, step(Pick::First)],
    },
    Series {
        tells: &[JudgedCause::Restart, JudgedCause::Rotation, JudgedCause::Lifetime],
        steps: &[FULL, after(0.4, FULL), step(Pick::Ago(2)), step(Pick::Ago(2))],
    },
    Series {
        tells: &[JudgedCause::Restart, JudgedCause::Rotation, JudgedCause::Lifetime, JudgedCause::RefusedYoung],
        steps: &[FULL, after(1.2, FULL), step(Pick::Ago(2)), step(Pick::Ago(2))],
    },
    Series { tells: &[JudgedCause::RateLimit, JudgedCause::SingleUse], steps: &[FULL, FIRST, FIRST, FIRST, FIRST] },
    Series {
        tells: &[JudgedCause::Restart, JudgedCause::Rotation, JudgedCause::Lifetime],
        steps: &[FULL, after(3.0, FULL), step(Pick::Ago(2)), step(Pick::Ago(2))],
    },
];
