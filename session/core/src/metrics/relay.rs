use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::{Metrics, RingState, StoreEvent, StoreOperation};

/// Passes on what is told of a ring, and of what renews it, to everyone who counts; whoever comes later is told how things stand.
#[derive(Debug, Default)]
pub(crate) struct Relay(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    listeners: Vec<Weak<dyn Metrics>>,
    /// Those that nobody else need hold.
    kept: Vec<Arc<dyn Metrics>>,
    ring: Option<RingState>,
    keys_stale: Option<bool>,
    /// Of a shared store, what holds now.
    store: Vec<StoreEvent>,
}

impl Relay {
    /// Tells `metrics` too, for as long as somebody else holds them: once, however often they are added.
    pub(crate) fn add(&self, metrics: &Arc<dyn Metrics>) {
        let mut state = self.state();
        state.listeners.retain(|listener| listener.strong_count() > 0);
        let is_this = |listener: &Weak<dyn Metrics>| listener.as_ptr().cast::<()>() == Arc::as_ptr(metrics).cast();
        if state.listeners.iter().any(is_this) {
            return;
        }
        state.listeners.push(Arc::downgrade(metrics));
        state.store.iter().for_each(|event| metrics.store_event(*event));
        state.ring.inspect(|ring| metrics.ring(*ring));
        state.keys_stale.inspect(|is_stale| metrics.keys_stale(*is_stale));
    }

    /// The same, and holds them.
    pub(crate) fn keep(&self, metrics: Arc<dyn Metrics>) {
        self.add(&metrics);
        let mut state = self.state();
        if !state.kept.iter().any(|kept| Arc::ptr_eq(kept, &metrics)) {
            state.kept.push(metrics);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tell(&self, tell: impl Fn(&dyn Metrics)) {
        for listener in &self.listeners {
            if let Some(metrics) = listener.upgrade() {
                tell(&*metrics);
            }
        }
    }
}

impl Metrics for Relay {
    fn store(&self, operation: StoreOperation, waited: Duration, answered: bool) {
        self.state().tell(|metrics| metrics.store(operation, waited, answered));
    }

    fn store_event(&self, event: StoreEvent) {
        let mut state = self.state();
        let over = match event {
            StoreEvent::Disconnected => StoreEvent::Connected,
            StoreEvent::Resumed => StoreEvent::Paused,
            StoreEvent::Accepted(operation) => StoreEvent::Refused(operation),
            StoreEvent::Connected | StoreEvent::Paused | StoreEvent::Refused(_) | StoreEvent::Retried => event,
        };
        state.store.retain(|held| *held != over);
        if matches!(event, StoreEvent::Connected | StoreEvent::Paused | StoreEvent::Refused(_)) {
            state.store.push(event);
        }
        state.tell(|metrics| metrics.store_event(event));
    }

    fn ring(&self, ring: RingState) {
        let mut state = self.state();
        if state.ring != Some(ring) {
            state.ring = Some(ring);
            state.tell(|metrics| metrics.ring(ring));
        }
    }

    fn keys_stale(&self, is_stale: bool) {
        let mut state = self.state();
        state.keys_stale = Some(is_stale);
        state.tell(|metrics| metrics.keys_stale(is_stale));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Counters;

    #[test]
    fn whoever_comes_later_is_told_how_things_stand() {
        let relay = Relay::default();
        let events =
            [StoreEvent::Connected, StoreEvent::Paused, StoreEvent::Refused(StoreOperation::Put), StoreEvent::Resumed];
        events.into_iter().for_each(|event| relay.store_event(event));
        relay.keys_stale(true);
        let counters = Arc::new(Counters::default());
        let metrics: Arc<dyn Metrics> = counters.clone();
        relay.add(&metrics);
        let page = counters.render();
        for line in ["store_connected 1", "store_paused 0", "store_refusing{operation=\"put\"} 1", "keys_stale 1"] {
            assert!(page.contains(&format!("reprise_session_{line}\n")), "{line} is not in\n{page}");
        }
        relay.store_event(StoreEvent::Disconnected);
        assert!(counters.render().contains("reprise_session_store_connected 0\n"));
    }

    #[test]
    fn nobody_is_told_twice() {
        let (relay, counters) = (Relay::default(), Arc::new(Counters::default()));
        for _ in 0..3 {
            relay.keep(counters.clone());
        }
        relay.store(StoreOperation::Fetch, Duration::ZERO, true);
        assert_eq!(counters.store_operations(StoreOperation::Fetch), (1, 0));
        // Who is gone is no longer there.
        let gone: Arc<dyn Metrics> = Arc::new(Counters::default());
        relay.add(&gone);
        drop(gone);
        relay.store(StoreOperation::Fetch, Duration::ZERO, true);
        assert_eq!(counters.store_operations(StoreOperation::Fetch), (2, 0));
    }
}
