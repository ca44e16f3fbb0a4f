//! Plugins of the TLS libraries that are installed: `stacks/shim/NAME.c`, linked with its library, into `target/stacks`.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, bail, ensure};

use crate::workspace::Workspace;

/// A library as Debian installs it.
struct Library {
    /// The shim's file, and the plugin's.
    name: &'static str,
    /// A header that is there if it is installed.
    header: &'static str,
    /// The package that brings it.
    package: &'static str,
    link: Link,
}

enum Link {
    /// Archives whose code is position-independent: nothing of them is seen from outside.
    Static(&'static [&'static str]),
    /// The shared object, where no such archive exists.
    Dynamic(&'static [&'static str]),
}

const LIBRARIES: &[Library] = &[
    Library {
        name: "openssl",
        header: "openssl/ssl.h",
        package: "libssl-dev",
        link: Link::Static(&["-l:libssl.a", "-l:libcrypto.a"]),
    },
    Library { name: "gnutls", header: "gnutls/gnutls.h", package: "libgnutls28-dev", link: Link::Dynamic(&["-lgnutls"]) },
    Library { name: "wolfssl", header: "wolfssl/ssl.h", package: "libwolfssl-dev", link: Link::Dynamic(&["-lwolfssl"]) },
    Library { name: "bearssl", header: "bearssl.h", package: "libbearssl-dev", link: Link::Static(&["-l:libbearssl.a"]) },
    Library {
        name: "mbedtls",
        header: "mbedtls/ssl.h",
        package: "libmbedtls-dev",
        link: Link::Static(&["-l:libmbedtls.a", "-l:libmbedx509.a", "-l:libmbedcrypto.a"]),
    },
];

/// What a plugin exports, and all that it exports.
const SYMBOL: &str = "reprise_stack_v1";

/// Builds every plugin whose library is installed, checks what it exports, and says what is missing.
pub(crate) fn build_of_system(workspace: &Workspace) -> anyhow::Result<()> {
    let stacks = workspace.root().join("stacks");
    let folder = workspace.metadata.target_directory.as_std_path().join("stacks");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut missing = Vec::new();
    for library in LIBRARIES {
        if !is_installed(library.header)? {
            missing.push(library.package);
            continue;
        }
        let plugin = folder.join(format!("{}.so", library.name));
        build(&stacks, library, &plugin)?;
        check_exports(&plugin)?;
        let how = match library.link {
            Link::Static(_) => "static",
            Link::Dynamic(_) => "dynamic",
        };
        println!("{} ({how}, {} bytes)", plugin.display(), fs::metadata(&plugin)?.len());
    }
    if !missing.is_empty() {
        println!("not installed: {0}\n  apt-get install {0}", missing.join(" "));
    }
    Ok(())
}

fn is_installed(header: &str) -> anyhow::Result<bool> {
    let mut compiler = Command::new(compiler());
    compiler.args(["-E", "-x", "c", "-include", header, "/dev/null"]);
    let status = compiler.stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(status.context("a C compiler is needed to build plugins: cc, or what CC names")?.success())
}

fn build(stacks: &Path, library: &Library, plugin: &Path) -> anyhow::Result<()> {
    let (flags, libraries) = match library.link {
        Link::Static(libraries) => ("system, static", libraries),
        Link::Dynamic(libraries) => ("system, dynamic", libraries),
    };
    let mut compiler = Command::new(compiler());
    compiler
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden", "-shared"])
        .arg(format!("-DREPRISE_FLAGS=\"{flags}\""))
        .arg("-I")
        .arg(stacks.join("include"))
        .arg("-o")
        .arg(plugin)
        .arg(stacks.join("shim").join(format!("{}.c", library.name)))
        .args(["-Wl,--exclude-libs,ALL", "-Wl,-Bsymbolic", "-Wl,-z,defs"])
        .arg(format!("-Wl,--version-script={}", stacks.join("shim/plugin.map").display()))
        .args(libraries)
        .args(["-ldl", "-lpthread"]);
    succeed(compiler.output(), &format!("the plugin of {}", library.name)).map(drop)
}

/// Two libraries of one program that export the same name are one to the loader: nothing but the one symbol may show.
fn check_exports(plugin: &Path) -> anyhow::Result<()> {
    let output = Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(plugin).output();
    let output = succeed(output, "nm")?;
    let exported: Vec<&str> = output.split_whitespace().collect();
    ensure!(exported == [SYMBOL], "{} exports {exported:?}, and may export {SYMBOL} alone", plugin.display());
    Ok(())
}

fn succeed(output: std::io::Result<Output>, what: &str) -> anyhow::Result<String> {
    let output = output.with_context(|| format!("cannot run what builds {what}"))?;
    if !output.status.success() {
        bail!("{what}:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn compiler() -> OsString {
    std::env::var_os("CC").unwrap_or_else(|| "cc".into())
}
