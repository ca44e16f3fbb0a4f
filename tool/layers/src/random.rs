//! What the random generator of a plugin costs a new process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reprise_pairs::{Ask, Child, Failed, StackRef};
use serde::{Deserialize, Serialize};

use crate::process::unreadable;

/// Times the first random bytes of so many processes that `helper` starts.
#[derive(Serialize, Deserialize)]
pub(crate) struct TimeRandom {
    pub(crate) stack: StackRef,
    pub(crate) helper: Option<PathBuf>,
    pub(crate) times: u32,
}

/// What a new process takes, in nanoseconds of CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RandomBytes {
    /// To initialise the library.
    pub(crate) init_ns: u64,
    /// For its first random bytes after that.
    pub(crate) first_ns: u64,
    /// For the next.
    pub(crate) next_ns: u64,
}

impl Ask for TimeRandom {
    const NAME: &'static str = "TimeRandom";
    type Answer = Vec<RandomBytes>;

    fn answer(self, _: &mut Child) -> Result<Vec<RandomBytes>, Failed> {
        random_bytes(&self.stack, self.helper.as_deref(), self.times)
    }
}

/// Times the generator of a plugin in so many processes, one after the other.
fn random_bytes(stack: &StackRef, program: Option<&Path>, times: u32) -> Result<Vec<RandomBytes>, Failed> {
    let (StackRef::Plugin(plugin), Some(program)) = (stack, program) else {
        return Err(Failed::unsupported("it is no plugin, or reprise-run is not built"));
    };
    let plugin = plugin.canonicalize().map_err(Failed::broken)?;
    let once = |_| {
        let output = Command::new(program).arg("random").arg(&plugin).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let output = output.map_err(Failed::broken)?;
        let line = String::from_utf8_lossy(&output.stdout);
        let words = line.strip_prefix("ok ").ok_or_else(|| Failed::unsupported(line.trim_end()))?;
        let numbers: Vec<u64> = words.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [init_ns, first_ns, next_ns] = *numbers else { return Err(unreadable(&line)) };
        Ok(RandomBytes { init_ns, first_ns, next_ns })
    };
    (0..times).map(once).collect()
}
