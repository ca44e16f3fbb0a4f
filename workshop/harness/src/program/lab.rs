use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, Identity, KeyKind, PemFiles, ServerSpec};
use reprise_servers::{Nginx, NginxConfig};
use tempfile::TempDir;

use super::Reprise;

/// An authority, a directory that goes with the test, and servers that the authority vouches for.
pub struct Lab {
    /// It vouches for every server of the lab.
    pub authority: Authority,
    directory: TempDir,
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

impl Lab {
    /// A new authority, its certificate in `ca.pem`.
    pub fn new() -> Self {
        let lab = Self { authority: Authority::new().unwrap(), directory: tempfile::tempdir().unwrap() };
        lab.file("ca.pem", lab.authority.pem());
        lab
    }

    /// A path in the lab's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file into the lab's directory.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, contents).unwrap();
        path
    }

    /// The authority's own certificate.
    pub fn ca(&self) -> PathBuf {
        self.path("ca.pem")
    }

    /// An identity for localhost, 127.0.0.1 and ::1.
    pub fn identity(&self, key: KeyKind) -> Identity {
        self.authority.server(&ServerSpec::new(key)).unwrap()
    }

    /// A client's certificate and key, in files.
    pub fn client(&self, name: &str) -> PemFiles {
        self.authority.client(name).unwrap().write_pem(self.directory(), name).unwrap()
    }

    /// The directory that goes with the test.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// An embedded server with a P-256 key, for tests that need no witness of another make.
    pub fn server(&self, resumption: EmbeddedResumption) -> EmbeddedServer {
        self.server_with(|config| config.resumption = resumption)
    }

    /// An embedded server with a P-256 key, changed as told.
    pub fn server_with(&self, change: impl FnOnce(&mut EmbeddedConfig)) -> EmbeddedServer {
        let mut config = EmbeddedConfig::new(self.identity(KeyKind::P256));
        change(&mut config);
        EmbeddedServer::start(config).unwrap()
    }

    /// `reprise diagnose TARGET`, trusting this lab.
    pub fn diagnose(&self, target: impl ToString) -> Reprise {
        Reprise::diagnose(target).arg("--ca").arg(self.ca())
    }

    /// `reprise measure TARGET`, trusting this lab.
    pub fn measure(&self, target: impl ToString) -> Reprise {
        Reprise::measure(target).arg("--ca").arg(self.ca())
    }

    /// `reprise trace TARGET`, trusting this lab; without a document.
    /// The pair alone, of which a server's own account tells.
    pub fn trace(&self, target: impl ToString) -> Reprise {
        Reprise::new(["trace", &target.to_string(), "--count", "0"]).arg("--ca").arg(self.ca())
    }
}

/// An nginx with a second port whose `listen` has parameters that its driver does not, and that port's address.
pub fn nginx_listening(lab: &Lab, parameters: &str, directives: &str) -> (Nginx, SocketAddr) {
    let identity = lab.identity(KeyKind::P256);
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = free.local_addr().unwrap();
    let files = identity.write_pem(lab.directory(), "second").unwrap();
    let (certificate, key) = (files.certificate.display(), files.key.display());
    // Longer than the window that a stream of HTTP/2 begins with.
    lab.file("100k", "x".repeat(100_000));
    let root = lab.directory().display();
    let http_directives = format!(
        "server {{\nlisten {address} {parameters};\nssl_certificate {certificate};\nssl_certificate_key {key};\n\
         ssl_protocols TLSv1.2 TLSv1.3;\nroot {root};\n{directives}\nlocation = / {{ return 200 \"ok\"; }}\n}}\n"
    );
    drop(free);
    (Nginx::start(NginxConfig { http_directives, ..NginxConfig::new(vec![identity]) }).unwrap(), address)
}

/// Such a port that expects a PROXY header, and logs the client's port that stands there.
pub fn nginx_behind_proxy(lab: &Lab) -> (Nginx, SocketAddr) {
    // $remote_port is then the one of the header.
    nginx_listening(lab, "ssl proxy_protocol", "set_real_ip_from 127.0.0.1;\nreal_ip_header proxy_protocol;\n")
}
