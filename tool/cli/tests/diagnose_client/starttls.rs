//! Clients that speak another protocol before TLS: `--listen --starttls NAME`.

use reprise_connection::StartTls;
use reprise_model::document::Diagnosis;

use crate::diagnose_client::diagnosis;
use reprise_harness::Reprise;

fn listening(protocol: &str) -> Reprise {
    Reprise::new(["diagnose", "--listen", "0", "--starttls", protocol, "--json", "-", "--"])
}

fn judged(protocol: &str, script: &str) -> Diagnosis {
    diagnosis(&listening(protocol).args(["sh", "-c", script]).run())
}

#[test]
fn openssl_resumes_under_every_protocol() {
    reprise_servers::require!("openssl", "sh");
    for protocol in StartTls::ALL.map(StartTls::name) {
        let directory = tempfile::tempdir().unwrap();
        let session = directory.path().join("session.pem");
        let farewell = if protocol == "imap" { "a LOGOUT" } else { "QUIT" };
        let script = format!(
            "s={}; c() {{ printf '{farewell}\\r\\n' | \
             openssl s_client -quiet -ign_eof -starttls {protocol} -connect {{address}} -sess_out $s \"$@\"; }}
            c; c -sess_in $s; c -sess_in $s; true",
            session.display()
        );
        let Diagnosis { verdict, findings, connections, .. } = judged(protocol, &script);
        assert_eq!(connections, 3, "{protocol}: {verdict}");
        assert!(verdict.starts_with("It resumes") && findings.is_empty(), "{protocol}: {verdict}: {findings:#?}");
    }
}

/// Each connection ends in an answer under TLS: whoever was let in nowhere has read its session.
#[test]
fn programs_of_each_protocol_are_judged() {
    reprise_servers::require!("sh", "python3", "psql", "mariadb");
    let processes = |client: &str| format!("{client}; {client}; {client}; true");
    let python = |connection: &str| {
        format!(
            "python3 -c \"
import ftplib, imaplib, poplib, smtplib, ssl
context = ssl.create_default_context()
for _ in range(4):
    {connection}
\""
        )
    };
    for (protocol, script, found) in [
        ("postgres", processes("psql 'host={ip} port={port} user=a dbname=a sslmode=require'"), "client-config-rebuilt"),
        ("mysql", processes("mariadb --host {ip} --port {port} --ssl --ssl-ca {ca}"), "client-config-rebuilt"),
        (
            "smtp",
            python("it = smtplib.SMTP('localhost', {port}); it.starttls(context=context); it.ehlo(); it.quit()"),
            "client-never-offers",
        ),
        (
            "imap",
            python("it = imaplib.IMAP4('localhost', {port}); it.starttls(context); it.logout()"),
            "client-never-offers",
        ),
        ("pop3", python("it = poplib.POP3('localhost', {port}); it.stls(context); it.quit()"), "client-never-offers"),
        (
            "ftp",
            python("it = ftplib.FTP_TLS(context=context); it.connect('localhost', {port}); it.auth(); it.quit()"),
            "client-never-offers",
        ),
    ] {
        let Diagnosis { verdict, findings, connections, reached, warnings, .. } = judged(protocol, &script);
        assert!(reached && connections >= 3, "{protocol}: {connections}: {verdict}: {warnings:?}");
        assert!(findings.iter().any(|it| it.id == found), "{protocol}: {verdict}: {findings:#?}");
    }
}

/// Beside what fixes it in Python.
#[test]
fn ftp_data_connections_of_clients_are_judged() {
    reprise_servers::require!("curl", "python3");
    let python = |class: &str| {
        format!(
            "python3 -c \"
import ftplib, ssl
class Resuming(ftplib.FTP_TLS):
    def ntransfercmd(self, cmd, rest=None):
        conn, size = ftplib.FTP.ntransfercmd(self, cmd, rest)
        return self.context.wrap_socket(conn, server_hostname=self.host, session=self.sock.session), size
it = {class}(context=ssl.create_default_context())
it.connect('localhost', {{port}}); it.login(); it.prot_p()
for _ in range(2):
    it.retrlines('LIST', print)
it.quit()
\""
        )
    };
    let curl = "curl -sS -m 9 --ssl-reqd ftp://localhost:{port}/ ftp://localhost:{port}/a/b";
    for (script, offered) in
        [(curl.to_owned(), 2), (format!("{curl} --no-sessionid"), 0), (python("ftplib.FTP_TLS"), 0), (python("Resuming"), 2)]
    {
        let Diagnosis { verdict, findings, figures, connections, .. } = judged("ftp", &script);
        let said = format!("FTP's data connections: {offered} of 2 offered the session of their control connection");
        assert_eq!((figures.as_slice(), connections), (&[said][..], 3), "{script}: {verdict}");
        let found = findings.iter().find(|it| it.id == "data-channel-session");
        assert_eq!(found.is_some(), offered == 0, "{script}: {findings:#?}");
        let names_522 = |line: &String| line.contains("522 (vsftpd)");
        assert!(found.is_none_or(|it| it.evidence.iter().any(names_522)), "{script}: {findings:#?}");
    }
}

#[test]
fn a_client_of_another_protocol_is_told_of_the_flag() {
    reprise_servers::require!("psql", "curl");
    let psql = ["psql", "host={ip} port={port} user=a dbname=a sslmode=require"];
    let outcome = Reprise::new(["diagnose", "--listen", "0", "--"]).args(psql).run().exits(3);
    outcome.says(&["the client does not speak TLS: it began with", "as clients of postgres do", "--starttls NAME"]);
    let curl = ["curl", "-s", "-m", "9", "https://localhost:{port}"];
    for protocol in ["postgres", "mysql", "smtp"] {
        let outcome = Reprise::new(["diagnose", "--listen", "0", "--starttls", protocol, "--"]).args(curl).run().exits(3);
        outcome.says(&[&format!("the client does not begin as one of {protocol} does"), "one that begins with TLS"]);
    }
}
