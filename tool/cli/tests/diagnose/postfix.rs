//! Postfix, whose master process asks for root.

use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use reprise_lab::KeyKind;
use reprise_servers::{Launch, Process};

use crate::diagnose::broken::{Broken, Software, Started, broken};
use reprise_harness::Lab;

const POSTFIX: Software = Software::new("Postfix", "postconf", &["-d", "mail_version"]).needing(&[MASTER, "root"]);

const MASTER: &str = "/usr/lib/postfix/sbin/master";

/// The lines stand in its main.cf.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    fs::set_permissions(root, Permissions::from_mode(0o755)).unwrap();
    for folder in ["conf", "queue", "queue/pid", "queue/public", "queue/private", "data"] {
        fs::create_dir(root.join(folder)).unwrap();
    }
    for folder in ["queue/public", "queue/private", "data"] {
        chown(root.join(folder), Some(NOBODY), None).unwrap();
    }
    let files = lab.identity(KeyKind::P256).write_pem(root, "server").unwrap();
    let own: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.starts_with('#')).collect();
    let chain = format!("smtpd_tls_chain_files = {}, {}", files.key.display(), files.certificate.display());
    let main = format!("{}\n{chain}\n{}\n", MAIN.replace("ROOT", &root.display().to_string()), own.join("\n"));
    fs::write(root.join("conf/main.cf"), main).unwrap();
    let (process, address) = launch(root);
    Started::without_account(address, (process, directory))
}

fn launch(root: &Path) -> (Process, SocketAddr) {
    let (own, log) = (root.join("maillog"), root.join("output.log"));
    let listens = || fs::read_to_string(&own).is_ok_and(|output| output.contains("daemon started"));
    let launch = Launch { program: "postfix", log: &log, listens: &listens };
    let command = |address: SocketAddr| {
        fs::write(root.join("conf/master.cf"), MASTER_CF.replace("ADDRESS", &address.to_string())).unwrap();
        let mut command = Command::new(MASTER);
        command.args(["-d", "-c"]).arg(root.join("conf"));
        Ok(command)
    };
    Process::on_free_port(&launch, command).unwrap()
}

/// As every Unix numbers it; Postfix calls it `mail_owner` here.
const NOBODY: u32 = 65_534;

const MAIN: &str = "compatibility_level = 3.6
queue_directory = ROOT/queue
data_directory = ROOT/data
daemon_directory = /usr/lib/postfix/sbin
mail_owner = nobody
setgid_group = mail
default_privs = daemon
myhostname = localhost
maillog_file = ROOT/maillog
maillog_file_prefixes = ROOT
inet_protocols = ipv4
inet_interfaces = 127.0.0.1
alias_maps =
local_recipient_maps =
smtpd_peername_lookup = no
smtpd_tls_security_level = may";

const MASTER_CF: &str = "ADDRESS inet n - n - - smtpd
postlog unix-dgram n - n - 1 postlogd
tlsmgr unix - - n 1000? 1 tlsmgr
anvil unix - - n - 1 anvil
";

const fn postfix(cause: &'static str, told: &'static [&'static str], flags: &'static [&'static str]) -> Broken {
    broken(cause, &POSTFIX, told, start).flags(flags)
}

examined! {
    one_curve_makes_handshakes_start_again:
        postfix("hello-retry-request", &["tls_eecdh_auto_curves = secp384r1"], &[])
            .measured(&["--starttls", "smtp", "--tls", "1.3", "--kinds", "full"])
            .and(&["nagle"]);
    a_session_timeout_of_zero_is_not_offered:
        postfix("not-offered", &["smtpd_tls_session_cache_timeout = 0"], &["--starttls", "smtp"])
            .and(&["id-never-accepted", "nagle"]);
    session_ids_without_a_database_are_never_accepted:
        postfix("id-never-accepted", &["# its defaults"], &["--starttls", "smtp", "--tls", "1.2"]);
    a_session_timeout_of_a_minute_is_short:
        postfix("lifetime-short", &["smtpd_tls_session_cache_timeout = 60s"], &["--starttls", "smtp", "--tls", "1.2"])
            .and(&["id-never-accepted"]);
}
