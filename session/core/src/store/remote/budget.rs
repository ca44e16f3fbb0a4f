//! Waiting for the store, and for nothing else.

use std::pin::pin;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{Instant, timeout};

/// A wait is so many shorter ones in a row.
const STEPS: u32 = 4;
/// How often the runtime looks for what has arrived, before a wait is over: bytes become an answer in as many turns.
const LAST_LOOKS: usize = 4;
/// No handshake waits longer for anything, whatever the budget: timers do not count for ever.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Later than this for the end of a step, and this thread waited for a processor: timers are exact to a millisecond.
const LATE: Duration = Duration::from_millis(2);
/// How many times the budget a wait may take, on a machine that is always late.
const MOST_TIMES: u32 = 8;

/// What `future` comes to within `budget`; `None` if to nothing.
///
/// The time in which this thread did not run is not the store's. On a busy machine the timer and the answer are often there
/// together, long after both; and a store on the same machine waits for a processor as this thread does. So a step for whose end
/// this thread is late does not count, and before the last one ends, whatever has arrived is read.
pub(crate) async fn within<T>(budget: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let step = budget.min(LONGEST) / STEPS;
    let (mut counted, mut made) = (0, 0);
    while counted < STEPS && made < STEPS * MOST_TIMES {
        let begun = Instant::now();
        if let Ok(done) = timeout(step, &mut future).await {
            return Some(done);
        }
        made += 1;
        counted += u32::from(begun.elapsed() < step + LATE);
    }
    for _ in 0..LAST_LOOKS {
        yield_now().await;
        if let Ok(done) = timeout(Duration::ZERO, &mut future).await {
            return Some(done);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use tokio::time::{self, advance, sleep};

    use super::*;

    const BUDGET: Duration = Duration::from_millis(20);

    #[tokio::test(start_paused = true)]
    async fn a_silent_store_costs_the_budget_and_no_more() {
        let begun = Instant::now();
        assert_eq!(within(BUDGET, std::future::pending::<()>()).await, None);
        let waited = begun.elapsed();
        // A timer's end is rounded up to a millisecond.
        assert!((BUDGET..BUDGET + Duration::from_millis(10)).contains(&waited), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_this_thread_did_not_run_is_not_the_stores() {
        let answer = tokio::spawn(async {
            // The thread stands still for ten budgets; the answer comes a little after that.
            advance(10 * BUDGET).await;
            sleep(BUDGET / 4).await;
            7
        });
        assert!(matches!(within(BUDGET, answer).await, Some(Ok(7))));
    }

    #[tokio::test]
    async fn an_answer_that_is_there_is_taken_at_the_end_of_the_budget() {
        let (mut ours, theirs) = tokio::io::duplex(8);
        tokio::spawn(async move {
            let _open = &theirs;
            // Longer than the budget, on the only thread: what is written is read after the budget is over.
            std::thread::sleep(2 * BUDGET);
            time::timeout(BUDGET, tokio::io::AsyncWriteExt::write_all(&mut { theirs }, b"answer")).await
        });
        let mut answer = [0; 6];
        let read = tokio::io::AsyncReadExt::read_exact(&mut ours, &mut answer);
        assert!(within(Duration::ZERO, read).await.is_some());
    }
}
