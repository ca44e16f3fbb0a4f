//! How likely the judge holds a conclusion, in words.

use reprise_judge::Conclusion;
use reprise_probe::diagnose::Judgement;

use crate::figures::connections;

/// "Over 41 connections its presence is 2300 times likelier than its absence".
pub(crate) fn odds(judgement: &Judgement, conclusion: &Conclusion) -> String {
    let all = connections(judgement.observations.len() as u64);
    match conclusion.odds {
        odds if odds >= 10_000.0 => format!("Over {all} its presence is more than 10,000 times likelier than its absence"),
        odds if odds < 2.0 => format!("Over {all} its presence is as likely as its absence"),
        odds => format!("Over {all} its presence is {odds:.0} times likelier than its absence"),
    }
}
