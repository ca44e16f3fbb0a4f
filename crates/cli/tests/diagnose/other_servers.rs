//! lighttpd, h2o, dnsdist, memcached and Erlang's ssl.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use reprise_lab::{Identity, KeyKind};
use reprise_servers::{Launch, Process, find};

use crate::broken::{Software, Started, broken};
use reprise_harness::Lab;

const LIGHTTPD: Software =
    Software::new("lighttpd", "lighttpd", &["-v"]).revealing_itself().needing(&["/usr/lib/lighttpd/mod_openssl.so"]);
const H2O: Software = Software::new("h2o", "h2o", &["--version"]).revealing_itself();
const DNSDIST: Software = Software::new("dnsdist", "dnsdist", &["--version"]);
const MEMCACHED: Software = Software::new("memcached", "memcached", &["-V"]);
const ERLANG: Software = Software::new("Erlang", "erl", &["-version"]).needing(&["escript"]);

/// Where one of them runs, and with what.
struct Place {
    directory: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
    address: SocketAddr,
}

impl Place {
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

fn started(lab: &Lab, program: &str, identity: &Identity, command: impl Fn(&Place) -> Command) -> (Process, SocketAddr) {
    let directory = tempfile::tempdir_in(lab.directory()).unwrap().keep();
    let files = identity.write_pem(&directory, "server").unwrap();
    let log = directory.join("output.log");
    let launch = Launch { program, log: &log, listens: &|| true };
    let place = |address| {
        let (certificate, key) = (files.certificate.clone(), files.key.clone());
        Place { directory: directory.clone(), certificate, key, address }
    };
    Process::on_free_port(&launch, |address| Ok(command(&place(address)))).unwrap()
}

fn one(lab: &Lab, program: &str, command: impl Fn(&Place) -> Command) -> Started {
    let (process, address) = started(lab, program, &lab.identity(KeyKind::P256), command);
    Started::without_account(address, process)
}

/// Two of them behind one address.
fn two(lab: &Lab, program: &str, command: impl Fn(&Place) -> Command) -> Started {
    let identity = lab.identity(KeyKind::P256);
    let nodes = [(); 2].map(|()| started(lab, program, &identity, &command));
    Started::behind_one_address(nodes.each_ref().map(|(_, address)| *address), nodes)
}

/// The lines that are no comment, one below the other, with this file in place of the name that remedies use.
fn joined(lines: &[String], name: &str, file: &Path) -> String {
    let lines = lines.iter().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.replace(name, file.to_str().unwrap())).collect::<Vec<_>>().join("\n")
}

fn installed(program: &str) -> Command {
    Command::new(find(program).unwrap())
}

fn lighttpd(place: &Place, lines: &str) -> Command {
    let pem = [&place.key, &place.certificate].map(|file| fs::read_to_string(file).unwrap()).concat();
    let (pem, page) = (place.file("server.pem", pem), place.file("index.html", "ok\n"));
    let configuration = format!(
        "server.bind = \"{}\"\nserver.port = {}\nserver.document-root = {:?}\nindex-file.names = (\"index.html\")\n\
        mimetype.assign = (\".html\" => \"text/html\")\nserver.modules = (\"mod_openssl\")\nssl.engine = \"enable\"\nssl.pemfile = {pem:?}\n{lines}\n",
        place.address.ip(),
        place.address.port(),
        page.parent().unwrap(),
    );
    let mut command = installed("lighttpd");
    command.args(["-D", "-f"]).arg(place.file("lighttpd.conf", configuration));
    command
}

fn one_lighttpd(lab: &Lab, lines: &[String]) -> Started {
    one(lab, "lighttpd", |place| lighttpd(place, &joined(lines, "\0", Path::new("/"))))
}

fn two_lighttpds(lab: &Lab, lines: &[String]) -> Started {
    // Three numbers of four bytes in the machine's order, and 80 bytes: version, begin and end of use, key.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as u32;
    let numbers = [0, now - 60, now + 86_400].map(u32::to_ne_bytes).concat();
    let keys = lab.file("ticket.stek", [numbers, vec![7; 80]].concat());
    two(lab, "lighttpd", |place| lighttpd(place, &joined(lines, "ticket.stek", &keys)))
}

fn two_h2os(lab: &Lab, lines: &[String]) -> Started {
    let (name, key) = ("07".repeat(16), "07".repeat(96));
    let keys = format!(
        "- name: {name}\n  cipher: aes-256-cbc\n  hash: sha256\n  key: {key}\n  not_before: 1\n  not_after: 4000000000\n"
    );
    let keys = lab.file("tickets.yaml", keys);
    two(lab, "h2o", |place| {
        let page = place.file("index.html", "ok\n");
        let configuration = format!(
            "{}\nlisten:\n  host: {}\n  port: {}\n  ssl:\n    certificate-file: {:?}\n    key-file: {:?}\nhosts:\n  default:\n    paths:\n      /:\n        file.dir: {:?}\n",
            joined(lines, "tickets.yaml", &keys),
            place.address.ip(),
            place.address.port(),
            place.certificate,
            place.key,
            page.parent().unwrap(),
        );
        let mut command = installed("h2o");
        command.arg("-c").arg(place.file("h2o.conf", configuration));
        command
    })
}

fn two_dnsdists(lab: &Lab, lines: &[String]) -> Started {
    let keys = lab.file("ticket.key", vec![7; 80]);
    two(lab, "dnsdist", |place| {
        let configuration = format!(
            "setSecurityPollSuffix(\"\")\nsetLocal(\"127.0.0.1:0\")\naddTLSLocal(\"{}\", {:?}, {:?}, {{ {} }})\n",
            place.address,
            place.certificate,
            place.key,
            joined(lines, "ticket.key", &keys),
        );
        let mut command = installed("dnsdist");
        command.args(["--supervised", "--disable-syslog", "-C"]).arg(place.file("dnsdist.conf", configuration));
        command
    })
}

/// It asks for a client certificate.
fn memcached(lab: &Lab, lines: &[String]) -> Started {
    one(lab, "memcached", |place| {
        let (certificate, key) = (place.certificate.display(), place.key.display());
        let tls = format!("ssl_chain_cert={certificate},ssl_key={key},ssl_verify_mode=2,ssl_ca_cert={}", lab.ca().display());
        let mut command = installed("memcached");
        command.args(["-Z", "-l", "127.0.0.1", "-o", &tls, "-p", &place.address.port().to_string()]);
        // As root it asks for a user.
        command.args(["-u", "root"]).args(lines.iter().filter(|line| !line.starts_with('#')));
        command
    })
}

/// The lines are options of `ssl:listen`.
fn erlang(lab: &Lab, lines: &[String]) -> Started {
    one(lab, "erl", |place| {
        let options: String = lines.iter().filter(|line| !line.starts_with('#')).map(|line| format!(", {line}")).collect();
        let program = include_str!("servers/server.escript")
            .replace("PORT", &place.address.port().to_string())
            .replace("CERTIFICATE", place.certificate.to_str().unwrap())
            .replace("KEY", place.key.to_str().unwrap())
            .replace(", OPTIONS", &options);
        let mut command = installed("escript");
        command.arg(place.file("server.escript", program)).env("HOME", &place.directory);
        command
    })
}

examined! {
    two_lighttpds_with_ticket_keys_of_their_own_are_hidden_nodes:
        broken("hidden-nodes", &LIGHTTPD, &["# two nodes"], two_lighttpds).flags(&["--tls", "1.3"]);
    two_tickets_of_lighttpd_run_out_in_a_burst:
        broken("tickets-run-out", &LIGHTTPD, &["# its defaults"], one_lighttpd).flags(&["--tls", "1.3"]);
    two_h2os_with_ticket_keys_of_their_own_are_hidden_nodes:
        broken("hidden-nodes", &H2O, &["# two nodes"], two_h2os).flags(&["--tls", "1.3"]);
    two_dnsdists_with_ticket_keys_of_their_own_are_hidden_nodes:
        broken("hidden-nodes", &DNSDIST, &["# two nodes"], two_dnsdists).flags(&["--tls", "1.3", "--no-request"]);
    a_memcached_without_a_context_fails_every_offer:
        broken("session-context-unset", &MEMCACHED, &["# its defaults"], memcached).with_certificate(8).flags(&["--no-request"]);
    an_erlang_server_states_early_data_and_rejects_it:
        broken("early-data-rejected", &ERLANG, &["{session_tickets,stateless}"], erlang).measured(&["--tls", "1.3"]);
    an_erlang_server_gives_no_ticket_by_default:
        broken("not-offered", &ERLANG, &["# its defaults"], erlang).flags(&["--tls", "1.3"]);
}
