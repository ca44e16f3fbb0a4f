//! What was published about what it costs to start again, and what the figures say to it.

use reprise_model::document::{LayersClaim, LayersDifference, LayersRow};
use reprise_model::{Level, Nanos, Version};

/// A published claim.
struct Claim {
    claim: &'static str,
    decided_by: Levels,
}

/// By what it costs to start again at one level rather than another: the differences and rows of `reprise layers`.
enum Levels {
    /// The client's CPU time of this step is positive.
    CpuOf([Level; 2]),
    /// That of the first step is less than that of the second.
    CpuIsLess([Level; 2], [Level; 2]),
    /// Each session that was offered was refused.
    SessionsRefused,
    /// The time of the step to this level is positive, wherever it begins.
    TimeTo(Level),
}

const JENSEN: &str = "Jensen, Enhancing SSL Performance (2006)";

/// J. G. Jensen, "Enhancing SSL Performance", CCLRC, 2006.
const OF_LEVELS: [Claim; 4] = [
    Claim {
        claim: "Start the client and initialise the library as few times as possible",
        decided_by: Levels::CpuOf([Level::Lib, Level::Ctx]),
    },
    Claim {
        claim: "To start the program again costs little beside initialising the library again",
        decided_by: Levels::CpuIsLess([Level::Run, Level::Lib], [Level::Lib, Level::Ctx]),
    },
    Claim { claim: "Do not rely on sessions: the server refused each one", decided_by: Levels::SessionsRefused },
    Claim { claim: "Use keep-alive", decided_by: Levels::TimeTo(Level::Msg) },
];

/// What a claim comes to here: verdict and figures.
type Verdict = (&'static str, String);

/// Each claim that these rows can say anything about.
pub(crate) fn of_levels(rows: &[LayersRow], differences: &[LayersDifference]) -> Vec<LayersClaim> {
    let mut subjects: Vec<(&str, Version)> = rows.iter().map(|row| (row.stack.as_str(), row.tls)).collect();
    subjects.dedup();
    let mut claims = Vec::new();
    for (stack, tls) in subjects {
        let subject = Subject { rows, differences, stack, tls };
        claims.extend(OF_LEVELS.iter().filter_map(|claim| {
            let (verdict, because) = subject.verdict(&claim.decided_by)?;
            Some(LayersClaim {
                source: JENSEN.to_owned(),
                claim: claim.claim.to_owned(),
                stack: stack.to_owned(),
                tls,
                verdict: verdict.to_owned(),
                because,
            })
        }));
    }
    claims
}

/// One stack by one version.
struct Subject<'a> {
    rows: &'a [LayersRow],
    differences: &'a [LayersDifference],
    stack: &'a str,
    tls: Version,
}

impl Subject<'_> {
    fn verdict(&self, decided_by: &Levels) -> Option<Verdict> {
        match *decided_by {
            Levels::CpuOf(step) => {
                let cpu = self.step(step)?.cpu_ns;
                let more = shown(cpu.median_ns);
                let words = format!("a new initialisation costs {more} of CPU a request more than a new context");
                Some((of_difference(cpu.ci95_ns?), words))
            }
            Levels::CpuIsLess(less, more) => {
                let (less, more) = (self.step(less)?.cpu_ns, self.step(more)?.cpu_ns);
                let ([less_low, less_high], [more_low, more_high]) = (less.ci95_ns?, more.ci95_ns?);
                let verdict = if less_high < more_low {
                    "confirmed"
                } else if less_low > more_high {
                    "refuted"
                } else {
                    "undecided"
                };
                let (process, initialisation) = (shown(less.median_ns), shown(more.median_ns));
                Some((verdict, format!("the process costs {process} of CPU, the initialisation {initialisation}")))
            }
            Levels::SessionsRefused => self.sessions(),
            Levels::TimeTo(level) => {
                let above = self.without_sessions().find(|it| it.to == level)?;
                let saved = shown(above.wall_ns.median_ns);
                let words = format!("the next request on a connection takes {saved} less than at {}", above.from);
                Some((of_difference(above.wall_ns.ci95_ns?), words))
            }
        }
    }

    fn sessions(&self) -> Option<Verdict> {
        // Where the client offers none, no server refuses.
        let with = || self.rows().filter(|row| row.sessions);
        let offered: u64 = with().map(|row| row.handshakes.saturating_sub(row.not_offered)).sum();
        let refused: u64 = with().map(|row| row.refused).sum();
        let at = |sessions| self.rows().find(move |row| row.level == Level::Bio && row.sessions == sessions);
        if offered == 0 {
            return None;
        }
        let resumed = offered.saturating_sub(refused);
        let saving = match (at(false), at(true)) {
            (Some(without), Some(with)) => {
                let (without, with) = (without.wall_ns.median_ns, with.wall_ns.median_ns);
                format!("; at bio a request takes {} with a session and {} without", Nanos(with), Nanos(without))
            }
            _ => String::new(),
        };
        let verdict = match resumed {
            0 => "confirmed",
            resumed if resumed == offered => "refuted",
            _ => "undecided",
        };
        Some((verdict, format!("{resumed} of {offered} sessions that were offered were resumed{saving}")))
    }

    fn rows(&self) -> impl Iterator<Item = &LayersRow> {
        self.rows.iter().filter(|row| (row.stack.as_str(), row.tls) == (self.stack, self.tls))
    }

    fn step(&self, [from, to]: [Level; 2]) -> Option<&LayersDifference> {
        self.without_sessions().find(|it| (it.from, it.to) == (from, to))
    }

    fn without_sessions(&self) -> impl Iterator<Item = &LayersDifference> {
        self.differences.iter().filter(|it| (it.stack.as_str(), it.tls, it.sessions) == (self.stack, self.tls, false))
    }
}

/// A span that may be negative.
pub(crate) fn shown(ns: i64) -> String {
    let size = Nanos(ns.unsigned_abs());
    if ns < 0 { format!("−{size}") } else { size.to_string() }
}

/// Whether a difference is certain, and which way.
fn of_difference([low, high]: [i64; 2]) -> &'static str {
    if low > 0 {
        "confirmed"
    } else if high < 0 {
        "refuted"
    } else {
        "undecided"
    }
}

#[cfg(test)]
mod tests {
    use reprise_model::document::{LayersChange, Statistics};
    use reprise_model::{Kind, KindCounts};

    use super::*;

    fn row(level: Level, sessions: bool, resumed: u64, full: u64) -> LayersRow {
        let mut kinds = KindCounts::default();
        (0..resumed).for_each(|_| kinds.add(Kind::Ticket));
        (0..full).for_each(|_| kinds.add(Kind::Full));
        let statistics = Statistics {
            median_ns: 1000,
            ci95_ns: None,
            mean_ns: 1000,
            min_ns: 1000,
            max_ns: 1000,
            p90_ns: 1000,
            p95_ns: Some(1000),
            p99_ns: 1000,
        };
        LayersRow {
            stack: "openssl".to_owned(),
            tls: Version::Tls13,
            level,
            sessions,
            n: 1,
            batch: 1,
            requests: resumed + full,
            handshakes: resumed + full,
            uncounted: 0,
            kinds,
            refused: if sessions { full } else { 0 },
            not_offered: 0,
            cpu_ns: statistics,
            wall_ns: statistics,
            connections: Vec::new(),
        }
    }

    fn step(from: Level, to: Level, interval: [i64; 2]) -> LayersDifference {
        let change = LayersChange { median_ns: i64::midpoint(interval[0], interval[1]), ci95_ns: Some(interval) };
        let stack = "openssl".to_owned();
        LayersDifference { stack, tls: Version::Tls13, sessions: false, from, to, cpu_ns: change, wall_ns: change }
    }

    fn verdicts(rows: &[LayersRow], differences: &[LayersDifference]) -> Vec<String> {
        of_levels(rows, differences).into_iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn findings_follow_the_intervals() {
        let rows = [row(Level::Run, false, 0, 6), row(Level::Bio, true, 6, 0)];
        let published = [
            step(Level::Run, Level::Lib, [10, 20]),
            step(Level::Lib, Level::Ctx, [100, 200]),
            step(Level::Ssl, Level::Msg, [5, 9]),
        ];
        assert_eq!(verdicts(&rows, &published), ["confirmed", "confirmed", "refuted", "confirmed"]);
        let other = [
            step(Level::Run, Level::Lib, [300, 400]),
            step(Level::Lib, Level::Ctx, [-5, 200]),
            step(Level::Ssl, Level::Msg, [-9, -5]),
        ];
        assert_eq!(verdicts(&rows, &other), ["undecided", "refuted", "refuted", "refuted"]);
    }

    #[test]
    fn sessions_that_are_all_refused_confirm_the_author() {
        assert_eq!(verdicts(&[row(Level::Bio, true, 0, 6)], &[]), ["confirmed"]);
        assert_eq!(verdicts(&[row(Level::Bio, true, 3, 3)], &[]), ["undecided"]);
        assert!(verdicts(&[row(Level::Bio, false, 0, 6)], &[]).is_empty(), "nothing was offered");
    }
}
