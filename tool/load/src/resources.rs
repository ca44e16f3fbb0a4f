//! What generator and server use of this machine while a load runs.

mod cgroup;
pub(crate) mod cpu;
mod cpu_limit;
mod listener;
mod local_ports;
mod own_address;
mod stage_cpu;

use std::path::Path;
use std::time::Duration;

use self::cpu::{Cpu, ServerCpu, own_cpu};
use self::cpu_limit::CpuLimits;
pub use self::listener::{has_started, listens_on};
use self::local_ports::local_ports;
pub use self::own_address::is_on_this_machine;
pub(crate) use self::stage_cpu::StageCpu;
use reprise_model::{CpuRestraint, LocalPorts};

/// Where `/proc` is.
const ROOT: &str = "/";

/// What both had used when a load began, to tell what they have used since.
pub(crate) struct Account {
    client: Cpu,
    client_limits: CpuLimits,
    server: Option<Server>,
}

struct Server {
    pid: u32,
    cpu: ServerCpu,
    limits: CpuLimits,
}

/// What both have used in a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    pub(crate) time: Duration,
    pub(crate) client: Cpu,
    pub(crate) client_restraint: CpuRestraint,
    /// Where its process was named, and is there still.
    pub(crate) server: Option<ServerCpu>,
    pub(crate) server_restraint: CpuRestraint,
    /// At the end of that time.
    pub(crate) ports: Option<LocalPorts>,
}

impl Account {
    /// Now. The server is the process with this number, and all that it has started.
    pub(crate) fn open(server: Option<u32>) -> Self {
        let root = Path::new(ROOT);
        let server = server.map(|pid| {
            let cpu = ServerCpu::of_tree(pid);
            let limits = CpuLimits::of(root, cpu.processes().map(|process| process.to_string()));
            Server { pid, cpu, limits }
        });
        Self { client: own_cpu(), client_limits: CpuLimits::of(root, ["self".to_owned()]), server }
    }

    /// Until now, which is so long after.
    pub(crate) fn used(&self, time: Duration) -> Used {
        let server = self.server.as_ref();
        Used {
            time,
            client: own_cpu().since(self.client),
            client_restraint: self.client_limits.until_now(time),
            server: server.map(|it| ServerCpu::of_tree(it.pid).since(&it.cpu)).filter(|cpu| !cpu.is_empty()),
            server_restraint: server.map(|it| it.limits.until_now(time)).unwrap_or_default(),
            ports: local_ports(Path::new(ROOT)),
        }
    }
}
