//! How a library is kept from what this CPU has for ciphers and hashes.

use reprise_model::document::ComparedStack;

use crate::failed::Failed;
use crate::stacks::StackRef;

/// By which variables of its environment a library leaves the AES instructions of this CPU alone, or why it cannot be told to. Each is read
/// when the library is initialised.
///
/// # Errors
/// Where it has no such switch.
pub(crate) fn without_aes_instructions(at: &StackRef, info: &ComparedStack) -> Result<Switch, Failed> {
    // OPENSSL_ia32cap(3): PCLMULQDQ is bit 33, AES-NI bit 57; VAES is used with AES-NI alone.
    switch(at, info, &[("OPENSSL_ia32cap", "~0x200000200000000")])
}

/// The same of those for AES and for SHA.
///
/// # Errors
/// Likewise.
pub fn without_cpu_instructions(at: &StackRef, info: &ComparedStack) -> Result<Switch, Failed> {
    // Of the second number SHA is bit 29.
    switch(at, info, &[("OPENSSL_ia32cap", "~0x200000200000000:~0x20000000")])
}

/// Variables of an environment, and what they are set to.
type Switch = &'static [(&'static str, &'static str)];

fn switch(at: &StackRef, info: &ComparedStack, of_openssl: Switch) -> Result<Switch, Failed> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Failed::unsupported("how libraries are kept from this CPU's instructions is known of x86-64 alone"));
    }
    let name = match at {
        StackRef::BuiltIn(name) => name.as_str(),
        StackRef::Plugin(_) => info.library.as_str(),
    };
    match name {
        "OpenSSL" | "AWS-LC" | "BoringSSL" | "s2n-tls" | "rustls-aws-lc" | "engine" => Ok(of_openssl),
        // GnuTLS has code of its own and otherwise Nettle's, which has some too.
        "GnuTLS" => Ok(&[("GNUTLS_CPUID_OVERRIDE", "0x1"), ("NETTLE_FAT_OVERRIDE", "vendor:other")]),
        _ => Err(Failed::unsupported(format!("{name} has no switch for the AES instructions of this CPU"))),
    }
}
