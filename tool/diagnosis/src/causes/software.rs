//! Names by which software is known, as its own banners write them.

/// The name under which the fixes of a software stand, from what a Server header or a flag says: "nginx/1.22.1",
/// "Apache/2.4.71 (Debian)", "openresty".
pub fn software(named: &str) -> Option<&'static str> {
    let named = named.trim().to_ascii_lowercase();
    let begins = |known: &str| named.strip_prefix(known).is_some_and(ends_a_name);
    NAMES.iter().find(|(known, _)| begins(known)).map(|(_, software)| *software)
}

/// Whether who runs one may as well run the other, or has it within.
pub(super) fn are_related(one: &str, other: &str) -> bool {
    one == other || RELATED.iter().any(|family| family.contains(&one) && family.contains(&other))
}

const RELATED: &[&[&str]] =
    &[&["Python ssl", "requests", "httpx"], &["Node", "undici"], &["rustls", "reqwest"], &["curl", "libcurl"]];

/// What a server's TLS is, where it is another program's or library's.
pub(super) fn built_on(software: &str) -> Option<&'static str> {
    match software {
        "gunicorn" | "uvicorn" | "hypercorn" => Some("Python ssl"),
        "RabbitMQ" => Some("Erlang"),
        _ => None,
    }
}

/// Whether a name ends here: "go1.26" and "go/1" are Go, "google" is not.
fn ends_a_name(rest: &str) -> bool {
    !rest.starts_with(|letter: char| letter.is_alphabetic() || letter == '-')
}

/// In lower case; of two that begin alike the longer first.
const NAMES: &[(&str, &str)] = &[
    ("nginx", "nginx"),
    ("openresty", "nginx"),
    ("tengine", "nginx"),
    ("angie", "nginx"),
    ("apache traffic server", "Traffic Server"),
    ("apachetrafficserver", "Traffic Server"),
    ("traffic server", "Traffic Server"),
    ("ats", "Traffic Server"),
    ("apache-coyote", "Java"),
    ("apache tomcat", "Java"),
    ("apache", "Apache"),
    ("httpd", "Apache"),
    ("haproxy", "HAProxy"),
    ("envoy", "Envoy"),
    ("istio-envoy", "Envoy"),
    ("caddy", "Caddy"),
    ("openssl api", "OpenSSL API"),
    ("openssl", "OpenSSL API"),
    ("gnutls", "GnuTLS"),
    ("rustls", "rustls"),
    ("golang", "Go"),
    ("go", "Go"),
    ("node.js", "Node"),
    ("node", "Node"),
    ("express", "Node"),
    ("java", "Java"),
    ("jetty", "Java"),
    ("tomcat", "Java"),
    ("traefik", "Traefik"),
    ("undertow", "Java"),
    (".net", ".NET"),
    ("dotnet", ".NET"),
    ("kestrel", ".NET"),
    ("stunnel", "stunnel"),
    ("curl", "curl"),
    ("libcurl", "libcurl"),
    ("mbed tls", "Mbed TLS"),
    ("reprise", "reprise"),
    ("python", "Python ssl"),
    ("basehttp", "Python ssl"),
    ("simplehttp", "Python ssl"),
    ("gunicorn", "gunicorn"),
    ("uvicorn", "uvicorn"),
    ("hypercorn", "hypercorn"),
    ("undici", "undici"),
    ("requests", "requests"),
    ("python-requests", "requests"),
    ("httpx", "httpx"),
    ("python-httpx", "httpx"),
    ("reqwest", "reqwest"),
    ("s2n-tls", "s2n-tls"),
    ("exim", "Exim"),
    ("postfix", "Postfix"),
    ("dovecot", "Dovecot"),
    ("proftpd", "ProFTPD"),
    ("vsftpd", "vsftpd"),
    ("openldap", "OpenLDAP"),
    ("slapd", "OpenLDAP"),
    ("postgresql", "PostgreSQL"),
    ("postgres", "PostgreSQL"),
    ("mysql", "MySQL"),
    ("mariadb", "MariaDB"),
    ("prosody", "Prosody"),
    ("redis", "Redis"),
    ("rust-openssl", "rust-openssl"),
    ("lighttpd", "lighttpd"),
    // It serves DNS over HTTPS by h2o.
    ("h2o/dnsdist", "dnsdist"),
    ("h2o", "h2o"),
    ("dnsdist", "dnsdist"),
    ("hitch", "hitch"),
    ("deno", "Deno"),
    ("bun", "Bun"),
    ("rabbitmq", "RabbitMQ"),
    ("erlang", "Erlang"),
    ("inets", "Erlang"),
    ("cowboy", "Erlang"),
    ("mochiweb", "Erlang"),
    ("yaws", "Erlang"),
    ("memcached", "memcached"),
    ("pgbouncer", "PgBouncer"),
    ("bearssl", "BearSSL"),
    ("lwip", "lwIP"),
    ("unbound", "unbound"),
    ("kubernetes", "Kubernetes"),
    ("linux", "Linux"),
    ("resolv.conf", "resolv.conf"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::{Cause, causes};

    #[test]
    fn software_is_known_by_its_banner() {
        let known = ["nginx/1.22.1", "Apache/2.4.71 (Debian)", "Apache-Coyote/1.1", "go1.26.8", "openresty", "Node 20"];
        assert_eq!(known.map(|it| software(it).unwrap()), ["nginx", "Apache", "Java", "Go", "nginx", "Node"]);
        for unknown in ["google", "gws", "", "apachesomething", "\u{1b}[2J"] {
            assert_eq!(software(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn dnsdist_is_not_taken_for_the_h2o_within_it() {
        let known = ["h2o/dnsdist", "h2o/2.2.5", "lighttpd/1.4.69", "ATS/9.2.5", "Cowboy", "hypercorn-h11", "BunnyCDN-FR1"];
        let expected = ["dnsdist", "h2o", "lighttpd", "Traffic Server", "Erlang"].map(Some);
        assert_eq!(known.map(software), [&expected[..], &[None, None]].concat()[..]);
    }

    #[test]
    fn every_software_with_a_fix_is_known_by_its_name() {
        for fix in causes().flat_map(Cause::all_fixes) {
            assert_eq!(software(fix.software), Some(fix.software));
        }
    }
}
