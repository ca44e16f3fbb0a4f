//! The images of `firmware/`: which there are, and how they are built.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::fault::BoardError;
use crate::sizes::{Sizes, sizes_of};

const ARM_COMPILER: (&str, &str) = ("arm-none-eabi-gcc", "gcc-arm-none-eabi libnewlib-arm-none-eabi");
/// How newlib for small targets is linked.
const C_LIBRARY: &str = "nano.specs";

/// A TLS stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BoardStack {
    /// BearSSL 0.6.
    #[serde(rename = "bearssl")]
    BearSsl,
    /// Mbed TLS 2.28.
    #[serde(rename = "mbedtls2")]
    MbedTls2,
    /// Mbed TLS 3.6.
    #[serde(rename = "mbedtls3")]
    MbedTls3,
    /// Both Mbed TLS in one image.
    #[serde(rename = "both")]
    Both,
}

impl BoardStack {
    /// As the Makefile calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::BearSsl => "bearssl",
            Self::MbedTls2 => "mbedtls2",
            Self::MbedTls3 => "mbedtls3",
            Self::Both => "both",
        }
    }

    /// The libraries of an image of it, in the order of `Setup::stack`.
    pub fn libraries(self) -> &'static [Self] {
        match self {
            Self::BearSsl => &[Self::BearSsl],
            Self::MbedTls2 => &[Self::MbedTls2],
            Self::MbedTls3 => &[Self::MbedTls3],
            Self::Both => &[Self::MbedTls2, Self::MbedTls3],
        }
    }

    /// As its authors call it, with the version.
    pub fn title(self) -> &'static str {
        match self {
            Self::BearSsl => "BearSSL 0.6",
            Self::MbedTls2 => "Mbed TLS 2.28.10",
            Self::MbedTls3 => "Mbed TLS 3.6.5",
            Self::Both => "Mbed TLS 2.28.10 and 3.6.5",
        }
    }
}

/// The CPU that an image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Cpu {
    /// The RP2040's, 133 MHz.
    #[serde(rename = "cortex-m0plus")]
    CortexM0,
    /// The ESP8266's, 80 or 160 MHz.
    #[serde(rename = "lx106")]
    Lx106,
}

/// How the compiler optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Optimization {
    /// For size.
    #[serde(rename = "-Os")]
    Size,
    /// For speed.
    #[serde(rename = "-O3")]
    Speed,
}

/// One image: everything that its Makefile is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Image {
    /// The CPU.
    pub cpu: Cpu,
    /// The stack.
    pub stack: BoardStack,
    /// The compiler's optimisation.
    pub optimization: Optimization,
    /// Whether the stack's own assembler is used.
    pub assembler: bool,
    /// BearSSL: a buffer for each direction.
    pub two_way: bool,
    /// Mbed TLS: AES tables in flash.
    pub rom_tables: bool,
    /// Whether the session cache is compiled in.
    pub cache: bool,
    /// Mbed TLS: session tickets.
    pub tickets: bool,
    /// BearSSL: arithmetic in words of 15 bits, not 31.
    pub words15: bool,
    /// Mbed TLS 3.6: P-256 by p256-m, through PSA's driver.
    #[serde(default)]
    pub p256_m: bool,
    /// Records of at most 4,096 bytes each way, so that buffers are smaller.
    #[serde(default)]
    pub small_records: bool,
}

impl Image {
    /// The usual image of a stack.
    pub fn usual(cpu: Cpu, stack: BoardStack, optimization: Optimization) -> Self {
        Self {
            cpu,
            stack,
            optimization,
            assembler: true,
            two_way: false,
            rom_tables: false,
            cache: true,
            tickets: false,
            words15: true,
            p256_m: false,
            small_records: false,
        }
    }

    /// All that can be built for a Cortex-M0+ and differs in what it costs.
    pub fn all() -> Vec<Self> {
        let mut images = Vec::new();
        for optimization in [Optimization::Size, Optimization::Speed] {
            let bearssl = Self::usual(Cpu::CortexM0, BoardStack::BearSsl, optimization);
            images.extend([bearssl, Self { assembler: false, ..bearssl }, Self { two_way: true, ..bearssl }]);
            for stack in [BoardStack::MbedTls2, BoardStack::MbedTls3] {
                let mbedtls = Self::usual(Cpu::CortexM0, stack, optimization);
                images.extend([mbedtls, Self { assembler: false, ..mbedtls }, Self { rom_tables: true, ..mbedtls }]);
            }
        }
        let size = |stack| Self::usual(Cpu::CortexM0, stack, Optimization::Size);
        images.extend(
            [BoardStack::BearSsl, BoardStack::MbedTls2, BoardStack::MbedTls3]
                .map(|stack| Self { cache: false, ..size(stack) }),
        );
        images.extend([BoardStack::MbedTls2, BoardStack::MbedTls3].map(|stack| Self { tickets: true, ..size(stack) }));
        images.push(size(BoardStack::Both));
        images.extend(Self::smaller());
        images
    }

    /// Images for a smaller board: smaller records in every stack, and p256-m in the one that has it.
    pub fn smaller() -> Vec<Self> {
        let size = |stack| Self::usual(Cpu::CortexM0, stack, Optimization::Size);
        let stacks = [BoardStack::BearSsl, BoardStack::MbedTls2, BoardStack::MbedTls3];
        let mut images = stacks.map(|stack| Self { small_records: true, ..size(stack) }).to_vec();
        images.push(Self { p256_m: true, ..size(BoardStack::MbedTls3) });
        images
    }

    /// Whether its server can resume sessions.
    pub fn resumes(&self) -> bool {
        self.cache || self.tickets
    }

    /// What differs from the usual image, `no-asm two-way`.
    pub fn options(&self) -> Vec<&'static str> {
        let all = [
            (!self.assembler, "no-asm"),
            (self.two_way, "two-way"),
            (self.rom_tables, "rom-tables"),
            (!self.cache, "no-cache"),
            (self.tickets, "tickets"),
            (!self.words15, "i31"),
            (self.p256_m, "p256-m"),
            (self.small_records, "small-records"),
        ];
        all.into_iter().filter_map(|(holds, name)| holds.then_some(name)).collect()
    }

    /// Where it is once it is built: an ELF file, and its linker map beside it.
    pub fn path(&self, output: &Path) -> PathBuf {
        output.join(format!("{self}.elf"))
    }

    /// Builds it, if it is not there yet or older than its sources, which are fetched first. `firmware` is the folder of the
    /// Makefile, `output` where images, intermediate files and the stacks' sources are kept; one process at a time writes there.
    ///
    /// # Errors
    /// If a tool is missing, or fetching or building fails.
    pub fn build(&self, firmware: &Path, output: &Path) -> Result<PathBuf, BoardError> {
        match self.cpu {
            Cpu::CortexM0 => require_compiler()?,
            Cpu::Lx106 => require("xtensa-lx106-elf-gcc", "gcc-xtensa-lx106")?,
        }
        require("make", "make")?;
        let _lock = lock(output)?;
        fetch_sources(firmware, output)?;
        let name = self.to_string();
        let flag = |holds: bool| if holds { "1" } else { "0" };
        let settings = [
            ("MACHINE", self.machine()),
            ("STACK", self.stack.name()),
            ("OPT", self.optimization.flag()),
            ("ASM", flag(self.assembler)),
            ("TWO_WAY", flag(self.two_way)),
            ("ROM_TABLES", flag(self.rom_tables)),
            ("CACHE", flag(self.cache)),
            ("TICKETS", flag(self.tickets)),
            ("I15", flag(self.words15)),
            ("P256_M", flag(self.p256_m)),
            ("SMALL_RECORDS", flag(self.small_records)),
            ("NAME", &name),
        ];
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let mut make = Command::new("make");
        make.arg("-C")
            .arg(firmware)
            .args(["--no-print-directory", &format!("--jobs={processors}")])
            .args(settings.map(|(name, value)| format!("{name}={value}")));
        for (name, folder) in
            [("SOURCES", "sources"), ("STACKS", "build/stacks"), ("BUILD", &format!("build/{name}")), ("OUT", &name)]
        {
            let absolute = std::path::absolute(output.join(folder)).unwrap_or_else(|_| output.join(folder));
            make.arg(format!("{name}={}", absolute.display()));
        }
        run(make).map_err(|said| BoardError::Build { image: name, said })?;
        Ok(self.path(output))
    }

    /// The sizes of a built image, from its linker map.
    pub fn sizes(&self, output: &Path) -> Result<Sizes, BoardError> {
        let path = self.path(output).with_extension("map");
        let map = std::fs::read_to_string(&path).map_err(|error| BoardError::File { path, error })?;
        Ok(sizes_of(&map))
    }

    fn machine(&self) -> &'static str {
        match self.cpu {
            Cpu::CortexM0 => "mps2",
            Cpu::Lx106 => "lx106",
        }
    }
}

impl Optimization {
    /// The compiler's flag.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Size => "-Os",
            Self::Speed => "-O3",
        }
    }
}

impl fmt::Display for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}{}", self.machine(), self.stack.name(), self.optimization.flag())?;
        self.options().iter().try_for_each(|option| write!(formatter, "-{option}"))
    }
}

/// Fails, with what to install, if a program is not on the path.
pub fn require(program: &'static str, package: &'static str) -> Result<(), BoardError> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&paths).any(|folder| folder.join(program).is_file());
    if there { Ok(()) } else { Err(BoardError::Missing { program, package }) }
}

/// Fails, with what to install, without the compiler for a Cortex-M0+ and its C library, which is a package of its own.
pub fn require_compiler() -> Result<(), BoardError> {
    let (compiler, package) = ARM_COMPILER;
    require(compiler, package)?;
    let asked = Command::new(compiler).arg(format!("-print-file-name={C_LIBRARY}")).output();
    // Of a file that is not there, the compiler prints the bare name.
    let is_there = asked.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute());
    if is_there { Ok(()) } else { Err(BoardError::Missing { program: C_LIBRARY, package }) }
}

/// The folder of the Makefile, in this folder or in one above it.
pub fn find_firmware(from: &Path) -> Result<PathBuf, BoardError> {
    let there = from.ancestors().map(|folder| folder.join("firmware")).find(|folder| folder.join("Makefile").is_file());
    there.ok_or_else(|| BoardError::NoSources(from.to_owned()))
}

fn lock(output: &Path) -> Result<File, BoardError> {
    let path = output.join("lock");
    let locked =
        std::fs::create_dir_all(output).and_then(|()| File::create(&path)).and_then(|file| file.lock().map(|()| file));
    locked.map_err(|error| BoardError::File { path, error })
}

/// Fetches what `firmware/sources/sources.list` names, unless it is there.
fn fetch_sources(firmware: &Path, output: &Path) -> Result<(), BoardError> {
    let mut fetch = Command::new(firmware.join("sources/fetch.sh"));
    fetch.arg(output.join("sources"));
    run(fetch).map_err(BoardError::Fetch)
}

/// What it said on standard error, where it failed.
fn run(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
