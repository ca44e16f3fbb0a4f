/// Why a session is not resumed. The client gets a full handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// No key of the ring has its name.
    #[error("unknown key")]
    UnknownKey,
    /// The key must not decrypt any more.
    #[error("expired key")]
    KeyExpired,
    /// It was made under another policy.
    #[error("another policy")]
    Policy,
    /// It is not what was sealed, or for another purpose.
    #[error("altered")]
    Altered,
    /// Its lifetime is over.
    #[error("expired")]
    Expired,
    /// The client's full handshake is too long ago.
    #[error("over the cap on the chain")]
    OverCap,
    /// It was issued after now, by more than clocks may differ.
    #[error("issued in the future")]
    Future,
    /// The store does not have it.
    #[error("absent")]
    Absent,
    /// Enough others were offered before it.
    #[error("over the budget of identities")]
    OverBudget,
    /// The store did not answer in time, or could not be asked.
    #[error("the store did not answer")]
    Unanswered,
    /// A certificate of the client's chain is over, or the verifier refuses it now.
    #[error("the client's certificate does not hold any more")]
    ClientCertificate,
}
