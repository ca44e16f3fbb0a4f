//! Balancers that find out by connections that one of their nodes is down.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use reprise_lab::KeyKind;
use reprise_servers::{Launch, Nginx, NginxConfig, Process, RealServer};

use crate::diagnose::broken::{Broken, Started, broken};
use crate::diagnose::haproxy::HAPROXY;
use reprise_harness::Lab;

/// HAProxy in TCP mode before two nodes and a port that answers no SYN, taken in turn. The lines stand in its `listen` section.
fn one_of_three_is_silent(lab: &Lab, lines: &[String]) -> Started {
    let nodes = [(); 2].map(|()| Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap());
    let silent = SilentPort::open();
    let own: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.starts_with('#')).collect();
    let addresses = [nodes[0].address(), nodes[1].address(), silent.address()];
    let servers: String = addresses.iter().enumerate().map(|(place, it)| format!("  server s{place} {it}\n")).collect();
    let (log, file) = (lab.path("balancer.log"), lab.path("balancer.cfg"));
    let is_checked = own.iter().any(|line| line.contains(" check "));
    // Until its check has failed, the silent one has its turns.
    let listens = || !is_checked || fs::read_to_string(&log).is_ok_and(|output| output.contains("s2 is DOWN"));
    let launch = Launch { program: "haproxy", log: &log, listens: &listens };
    let (process, address) = Process::on_free_port(&launch, |address| {
        let text = format!(
            "defaults\n  mode tcp\n  option redispatch 1\n  timeout connect 300ms\n  timeout client 10s\n  timeout server 10s\n\
             listen lab\n  bind {address}\n  balance roundrobin\n  {}\n{servers}",
            own.join("\n  ")
        );
        fs::write(&file, text).unwrap();
        let mut command = Command::new("haproxy");
        command.args(["-db", "-f"]).arg(&file);
        Ok(command)
    })
    .unwrap();
    Started::without_account(address, (process, silent, nodes))
}

/// A listener whose queue is full and stays so: SYNs are dropped.
struct SilentPort {
    listener: TcpListener,
    _filling: Vec<TcpStream>,
}

impl SilentPort {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok();
        let filling = std::iter::from_fn(connect).collect();
        Self { listener, _filling: filling }
    }

    fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }
}

const fn slow(told: &'static [&'static str]) -> Broken {
    broken("some-connections-slow", &HAPROXY, told, one_of_three_is_silent)
        .measured(&["--tls", "1.3", "--kinds", "full"])
        .and(&["node-certificate-differs"])
}

examined! {
    a_node_that_drops_syns_and_is_not_checked: slow(&["# one of three drops SYNs"]);
}
