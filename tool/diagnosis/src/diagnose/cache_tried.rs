//! After how many connections of others a session was offered that the server keeps.

use reprise_model::{Asked, Kind, Observation};

use super::examined::{Examined, mechanism};
use crate::figures::connections;

/// Of each mechanism whose sessions resume from a cache, after how many connections that was tried: a few say nothing of a busy hour.
pub(super) fn sentences(examined: &Examined<'_>) -> Vec<String> {
    let runs = examined.runs("resume").map(|run| run.asked).filter(|asked| is_stored(examined, *asked));
    let untried =
        runs.filter(|asked| examined.always_resumes(*asked) && examined.runs("fill").all(|run| run.asked != *asked));
    let untried: Vec<Asked> = untried.collect();
    let offers = || untried.iter().filter_map(|asked| examined.case.judgements.iter().find(|it| it.asked == *asked));
    let farthest = offers().flat_map(|judgement| judgement.offers().filter_map(Observation::distance)).max();
    let Some(between) = farthest.map(|distance| u64::from(distance.saturating_sub(1))) else { return Vec::new() };
    let named: Vec<String> = untried.iter().map(|asked| mechanism(*asked)).collect();
    let session = examined.session;
    let size = if session.certificate > 0 { format!(" {}.", session.size()) } else { String::new() };
    vec![format!(
        "{}: the server keeps the session, and it was offered after {} at most.{size} Whether the cache holds more was not tried: --fill N \
         makes N full handshakes in between, as this client makes them",
        named.join(", "),
        connections(between)
    )]
}

/// IDs, and tickets that only name their session.
fn is_stored(examined: &Examined<'_>, asked: Asked) -> bool {
    let seen = examined.runs("resume").filter(|run| run.asked == asked).flat_map(|run| &run.seen);
    let mut tickets = seen.filter_map(|seen| seen.observation.facts()?.tickets.iter().next());
    asked.kind == Kind::Id || tickets.next().is_some_and(|ticket| !ticket.holds_its_session())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS12_ID};

    #[test]
    fn what_was_not_tried_is_said() {
        let of = |scene: Scene| scene.with_examined(sentences);
        let judged = || Scene::resuming(TLS12_ID).judged_steady(TLS12_ID);
        let said = of(judged());
        assert!(
            said.iter().any(|it| it.contains("by session ID: the server keeps the session") && it.contains("--fill N")),
            "{said:?}"
        );
        let filled = [Kind::Full, Kind::Full, Kind::Full, Kind::Id];
        assert_eq!(of(judged().run("fill", TLS12_ID, &filled)), [""; 0]);
        assert_eq!(of(Scene::refusing(TLS12_ID).judged_steady(TLS12_ID)), [""; 0]);
    }
}
