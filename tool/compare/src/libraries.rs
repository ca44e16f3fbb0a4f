//! The C libraries that plugins are built of: by `reprise stacks install`, and named by `reprise stacks`.

/// A library, as one plugin.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// Its plugin's name.
    pub plugin: &'static str,
    /// Its own, with the version where it is pinned.
    pub title: &'static str,
    /// SPDX.
    pub licence: &'static str,
    /// Where it comes from.
    pub origin: LibrarySource,
}

/// Where a library comes from.
#[derive(Clone, Copy, Debug)]
pub enum LibrarySource {
    /// It is installed.
    System {
        /// Debian's package.
        package: &'static str,
        /// A header of it.
        header: &'static str,
        /// What a plugin is linked to: some systems have the header without it.
        file: &'static str,
    },
    /// Its source is fetched from a package registry.
    Source {
        /// What to fetch: names in `tls/stacks/sources.list`, or in `firmware/sources/sources.list`.
        archives: &'static [&'static str],
        /// Programs that build it, beside make and a C compiler.
        needs: &'static [&'static str],
        /// Why it is built only when it is named.
        named_only: Option<&'static str>,
    },
}

const GPL: Option<&str> = Some("its licence is the GPL");
const SLOW: Option<&str> = Some("it takes minutes, and AWS-LC is near to it");

/// Every library, installed ones first.
pub const LIBRARIES: [Library; 17] = [
    system("openssl", "OpenSSL", "Apache-2.0", "libssl-dev", "openssl/ssl.h", "libssl.a"),
    system("gnutls", "GnuTLS", "LGPL-2.1-or-later", "libgnutls28-dev", "gnutls/gnutls.h", "libgnutls.so"),
    system("wolfssl", "wolfSSL", "GPL-2.0-or-later", "libwolfssl-dev", "wolfssl/ssl.h", "libwolfssl.so"),
    system("mbedtls", "Mbed TLS", "Apache-2.0 OR GPL-2.0-or-later", "libmbedtls-dev", "mbedtls/ssl.h", "libmbedtls.a"),
    system("bearssl", "BearSSL", "MIT", "libbearssl-dev", "bearssl.h", "libbearssl.a"),
    source("bearssl-0.6-O3", "BearSSL 0.6", "MIT", &["bearssl"], &[], None),
    source("bearssl-0.6-Os", "BearSSL 0.6", "MIT", &["bearssl"], &[], None),
    source("mbedtls-2.28-O3", "Mbed TLS 2.28.10", "Apache-2.0 OR GPL-2.0-or-later", &["mbedtls2"], &[], None),
    source("mbedtls-2.28-Os", "Mbed TLS 2.28.10", "Apache-2.0 OR GPL-2.0-or-later", &["mbedtls2"], &[], None),
    source("mbedtls-3.6-O3", "Mbed TLS 3.6.5", "Apache-2.0 OR GPL-2.0-or-later", &["mbedtls3"], &[], None),
    source("mbedtls-3.6-Os", "Mbed TLS 3.6.5", "Apache-2.0 OR GPL-2.0-or-later", &["mbedtls3"], &[], None),
    source("aws-lc", "AWS-LC 5.12.0", "ISC AND Apache-2.0 AND MIT AND BSD-3-Clause", &["aws-lc"], &["cmake", "c++"], None),
    source("s2n", "s2n-tls 0.3.47 over AWS-LC", "Apache-2.0", &["s2n", "aws-lc"], &["cmake", "c++"], None),
    source("openssl-3.5", "OpenSSL 3.5.5", "Apache-2.0", &["openssl-3.5"], &["perl"], None),
    source("openssl-4.0", "OpenSSL 4.0.3", "Apache-2.0", &["openssl-4.0"], &["perl"], None),
    source("wolfssl-5.9", "wolfSSL 5.9.4", "GPL-3.0-only", &["wolfssl-5.9"], &["cmake"], GPL),
    source("boringssl", "BoringSSL", "Apache-2.0", &["boringssl"], &["cmake", "c++"], SLOW),
];

const fn system(
    plugin: &'static str,
    title: &'static str,
    licence: &'static str,
    package: &'static str,
    header: &'static str,
    file: &'static str,
) -> Library {
    Library { plugin, title, licence, origin: LibrarySource::System { package, header, file } }
}

const fn source(
    plugin: &'static str,
    title: &'static str,
    licence: &'static str,
    archives: &'static [&'static str],
    needs: &'static [&'static str],
    named_only: Option<&'static str>,
) -> Library {
    Library { plugin, title, licence, origin: LibrarySource::Source { archives, needs, named_only } }
}
