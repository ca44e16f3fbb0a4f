//! What is concluded from the odds of each cause.

use reprise_model::document::Confidence;

use crate::cause::{Causes, JudgedCause};
use crate::judge::{Judge, odds};

/// What an examination says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conclusion {
    /// What is wrong.
    pub cause: JudgedCause,
    /// How sure that is: more likely than not, 20 times likelier present than absent, or 1000 times and confirmed by further
    /// connections.
    pub confidence: Confidence,
    /// How much likelier its presence is than its absence.
    pub odds: f64,
}

/// The odds from which on a cause is likely, and certain.
pub const LIKELY: f64 = 20.0;
const CERTAIN: f64 = 1000.0;

/// Causes of which one is named: what no experiment tells apart.
const KEYS: [JudgedCause; 2] = [JudgedCause::Restart, JudgedCause::Rotation];

impl Judge {
    /// What is more likely than not, the likeliest first. None is certain: no connection was chosen to confirm it.
    pub fn conclusions(&self) -> Vec<Conclusion> {
        conclusions(self, 0.0, false)
    }
}

/// The same, which may be certain where further connections confirmed it, with the odds that answers differ.
pub(crate) fn conclusions(judge: &Judge, answers_differ: f64, is_confirmed: bool) -> Vec<Conclusion> {
    let posterior = judge.posterior();
    let mut all = Vec::new();
    // Of nodes behind a limit there is none either, and few offers pass it.
    let is_limited = odds(&posterior, Causes::of(&[JudgedCause::RateLimit])) >= 1.0;
    let is_behind_limit = |causes: &[JudgedCause]| is_limited && causes == [JudgedCause::NeverAccepted];
    // Of nodes that lose their keys, or that stand behind a limit, there is no hypothesis: what is forgotten there looks like what is
    // too old, and what is limited like a node that is down.
    let has_nodes = odds(&posterior, Causes::of(&[JudgedCause::NotShared])) >= 1.0;
    let is_beside_nodes =
        |causes: &[JudgedCause]| has_nodes && (causes == [JudgedCause::Lifetime] || causes == [JudgedCause::NodeDown]);
    for causes in groups().filter(|causes| *causes != [JudgedCause::Unknown]) {
        let odds_of_all = match causes {
            [JudgedCause::AnswersDiffer] => answers_differ,
            _ => odds(&posterior, Causes::of(causes)),
        };
        let likeliest = causes.iter().max_by(|a, b| {
            let [a, b] = [a, b].map(|it| odds(&posterior, Causes::of(&[**it])));
            a.total_cmp(&b)
        });
        let confidence = match odds_of_all {
            odds if odds >= CERTAIN && is_confirmed && !is_beside_nodes(causes) && !is_behind_limit(causes) => {
                Confidence::Certain
            }
            odds if odds >= LIKELY && !is_behind_limit(causes) => Confidence::Likely,
            odds if odds >= 1.0 => Confidence::Possible,
            _ => continue,
        };
        all.extend(likeliest.map(|cause| Conclusion { cause: *cause, confidence, odds: odds_of_all }));
    }
    all.sort_by(|a: &Conclusion, b| b.odds.total_cmp(&a.odds));
    all
}

/// Causes that are decided together.
pub(crate) fn groups() -> impl Iterator<Item = &'static [JudgedCause]> {
    let alone = JudgedCause::ALL.iter().map(std::slice::from_ref).filter(|cause| !KEYS.contains(&cause[0]));
    std::iter::once(&KEYS[..]).chain(alone)
}
