//! What was said of the simulated servers, against what is right.

use std::collections::BTreeMap;
use std::time::Duration;

use reprise_judge::{Conclusion, ServerExamination};
use reprise_model::document::Confidence;

use super::world::World;

/// What was said of one server.
pub(crate) struct Verdict {
    family: &'static str,
    /// Outside of all hypotheses.
    is_outside: bool,
    said: Vec<(Conclusion, bool)>,
    /// Causes that had to be found, and whether they were.
    needed: Vec<(&'static str, bool)>,
    connections: usize,
    seconds: f64,
    spent: Spent,
}

impl Verdict {
    pub(crate) fn new(world: &World, examination: &ServerExamination, said: &[Conclusion], spent: Spent) -> Self {
        let spec = &world.spec;
        let is_right = |it: &Conclusion| spec.right.iter().any(|group| group.contains(&it.cause.slug()));
        let is_found =
            |group: &[&str]| said.iter().any(|it| it.confidence != Confidence::Possible && group.contains(&it.cause.slug()));
        let needed = if spec.is_decidable { spec.right.as_slice() } else { &[] };
        Self {
            family: world.family.name,
            is_outside: spec.oddity.is_some(),
            said: said.iter().map(|it| (*it, is_right(it))).collect(),
            needed: needed.iter().map(|group| (group[0], is_found(group))).collect(),
            connections: examination.connections(),
            seconds: examination.seconds(),
            spent,
        }
    }

    fn is_falsely(&self, confidence: Confidence) -> bool {
        self.said.iter().any(|(it, is_right)| !is_right && it.confidence == confidence)
    }

    fn is_found(&self) -> bool {
        self.needed.iter().all(|(_, is_found)| *is_found)
    }

    pub(crate) fn print_if_wrong(&self, number: u64) {
        let is_wrong = self.is_falsely(Confidence::Certain) || self.is_falsely(Confidence::Likely);
        if !is_wrong && self.is_found() {
            return;
        }
        let said: Vec<String> = self
            .said
            .iter()
            .map(|(it, is_right)| {
                let wrong = if *is_right { "" } else { " (wrong)" };
                format!("{} {} {:.0}{wrong}", it.confidence, it.cause.slug(), it.odds)
            })
            .collect();
        let needed: Vec<&str> = self.needed.iter().filter(|(_, is_found)| !is_found).map(|(slug, _)| *slug).collect();
        let missed = if needed.is_empty() { String::new() } else { format!("; missed: {}", needed.join(", ")) };
        println!(
            "{number} {}: {} connections, {:.1} s: {}{missed}",
            self.family,
            self.connections,
            self.seconds,
            if said.is_empty() { "nothing said".to_owned() } else { said.join(", ") }
        );
    }
}

/// What was said of many servers.
#[derive(Default)]
pub(crate) struct Score {
    families: BTreeMap<&'static str, Counts>,
    /// Of conclusions by the tenfold of their odds: how many, and how many right.
    odds: BTreeMap<i32, (usize, usize)>,
    spent: Spent,
}

#[derive(Default)]
struct Counts {
    worlds: usize,
    false_certain: usize,
    false_likely: usize,
    needed: usize,
    found: usize,
    connections: Vec<usize>,
    is_outside: bool,
}

/// As few as these may be wrong, and so many must be found. docs/decisions/0052-judge.md.
const FALSE_CERTAIN: f64 = 1.0 / 2000.0;
const FALSE_LIKELY: f64 = 1.0 / 300.0;
const FOUND: f64 = 0.92;
const MEDIAN_CONNECTIONS: usize = 45;

/// The time that the judge itself took.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) weighing: Duration,
    pub(crate) choosing: Duration,
}

impl Spent {
    fn add(&mut self, other: Self) {
        self.weighing += other.weighing;
        self.choosing += other.choosing;
    }
}

impl Score {
    pub(crate) fn add(&mut self, verdict: &Verdict) {
        let counts = self.families.entry(verdict.family).or_default();
        counts.worlds += 1;
        counts.is_outside = verdict.is_outside;
        counts.false_certain += usize::from(verdict.is_falsely(Confidence::Certain));
        counts.false_likely += usize::from(verdict.is_falsely(Confidence::Likely));
        counts.needed += usize::from(!verdict.needed.is_empty());
        counts.found += usize::from(!verdict.needed.is_empty() && verdict.is_found());
        if !verdict.is_outside {
            for (conclusion, is_right) in &verdict.said {
                let (said, right) = self.odds.entry(conclusion.odds.log10().floor().min(6.0) as i32).or_default();
                *said += 1;
                *right += usize::from(*is_right);
            }
        }
        counts.connections.push(verdict.connections);
        self.spent.add(verdict.spent);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (family, counts) in other.families {
            let own = self.families.entry(family).or_default();
            own.add(&counts);
        }
        for (tenfold, (said, right)) in other.odds {
            let own = self.odds.entry(tenfold).or_default();
            *own = (own.0 + said, own.1 + right);
        }
        self.spent.add(other.spent);
    }

    /// Of all servers but those outside the hypotheses.
    fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.families.values().filter(|it| !it.is_outside).for_each(|it| total.add(it));
        total
    }

    pub(crate) fn print(&self) {
        println!(
            "{:24} {:>6} {:>14} {:>13} {:>13} {:>12}",
            "servers", "", "false certain", "false likely", "found", "connections"
        );
        let row = |name: &str, it: &Counts| {
            let found = if it.needed == 0 { "-".to_owned() } else { format!("{} of {}", it.found, it.needed) };
            let median = it.median_connections();
            println!("{name:24} {:>6} {:>14} {:>13} {found:>13} {median:>12}", it.worlds, it.false_certain, it.false_likely);
        };
        self.families.iter().for_each(|(name, counts)| row(name, counts));
        row("all but those outside", &self.total());
        println!("\n{:24} {:>6} {:>14}", "odds said", "", "right");
        for (tenfold, (said, right)) in &self.odds {
            let range = if *tenfold >= 6 { "over 10^6".to_owned() } else { format!("10^{tenfold} to 10^{}", tenfold + 1) };
            println!("{range:24} {said:>6} {:>13.1}%", 100.0 * *right as f64 / *said as f64);
        }
        let worlds: usize = self.families.values().map(|it| it.worlds).sum();
        let connections: usize = self.families.values().flat_map(|it| &it.connections).sum();
        let Spent { weighing, choosing } = self.spent;
        println!(
            "\njudging: {:.3} s a server; {:.2} ms to weigh a connection under all hypotheses, {:.2} ms to choose the next",
            (weighing + choosing).as_secs_f64() / worlds.max(1) as f64,
            1e3 * weighing.as_secs_f64() / connections.max(1) as f64,
            1e3 * choosing.as_secs_f64() / connections.max(1) as f64,
        );
    }

    /// What is not as it must be.
    pub(crate) fn faults(&self) -> Vec<String> {
        let total = self.total();
        let of = |count: usize| count as f64 / total.worlds.max(1) as f64;
        let outside: usize = self.families.values().filter(|it| it.is_outside).map(|it| it.false_certain).sum();
        let faults = [
            (of(total.false_certain) > FALSE_CERTAIN, format!("{} certain conclusions are false", total.false_certain)),
            (of(total.false_likely) > FALSE_LIKELY, format!("{} likely conclusions are false", total.false_likely)),
            ((total.found as f64) < FOUND * total.needed as f64, format!("{} of {} were found", total.found, total.needed)),
            (
                total.median_connections() > MEDIAN_CONNECTIONS,
                format!("the median examination makes {} connections", total.median_connections()),
            ),
            (outside > 0, format!("{outside} certain conclusions about servers outside the hypotheses")),
        ];
        faults.into_iter().filter(|(is_fault, _)| *is_fault).map(|(_, text)| text).collect()
    }
}

impl Counts {
    fn median_connections(&self) -> usize {
        let mut all = self.connections.clone();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    }

    fn add(&mut self, other: &Self) {
        self.worlds += other.worlds;
        self.false_certain += other.false_certain;
        self.false_likely += other.false_likely;
        self.needed += other.needed;
        self.found += other.found;
        self.connections.extend(&other.connections);
        self.is_outside |= other.is_outside;
    }
}
