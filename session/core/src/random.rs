/// Where keys and salts come from.
pub trait Random: Send + Sync {
    /// Fills `bytes` with what nobody can predict.
    ///
    /// # Errors
    /// [`RandomFailed`]; what stands in `bytes` must then not be used.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomFailed>;
}

/// The source of randomness gave none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the source of randomness failed")]
pub struct RandomFailed;

/// The system's randomness, by AWS-LC.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomFailed> {
        aws_lc_rs::rand::fill(bytes).map_err(|_| RandomFailed)
    }
}
