/// What a store is asked to do. One that refuses this may allow the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    Get,
    Take,
    Write,
    CompareAndSet,
    Time,
    Identify,
    Role,
}
