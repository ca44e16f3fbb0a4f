//! `reprise board`: the same server on emulated microcontrollers.

mod flags;
mod listen;

use std::path::{Path, PathBuf};

use anyhow::bail;
use reprise_board::document::{BoardDocument, BoardHandshake, BuiltImage, CacheCost, Esp8266, Requests, Witness};
use reprise_board::published::Measured;
use reprise_board::{
    BoardError, BoardStack, Cpu, Esp8266Case, Firmware, Image, Key, Optimization, Qemu, ResponseMode, Stop, calibration,
    find_firmware, published, require, require_compiler, side_by_side,
};
use reprise_probe::Interrupt;
use reprise_report::Document;

use crate::ending::Ending;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::provenance::provenance;

pub(crate) use flags::BoardArgs;

pub(crate) fn run(arguments: BoardArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let firmware = firmware(&arguments)?;
    let stop = || interrupt.is_raised();
    if let Some(address) = arguments.listen {
        return listen::run(&firmware, &arguments, address, &stop);
    }
    let plan = Plan::of(&arguments)?;
    let outputs = Outputs::open(&arguments.outputs, &[])?;
    let run = Run { plan: &plan, firmware: &firmware, stop: &stop, progress: Progress::of("steps") };
    let measured = run.measure();
    run.progress.finish();
    let document = measured?;
    outputs.write(Document::Board(&document))?;
    if document.interrupted {
        return Ok(Ending::Interrupted);
    }
    let of_requests = document.esp8266.iter().flat_map(|it| &it.requests).map(|row| row.identical);
    let identical = document.handshakes.iter().map(|row| row.identical).chain(of_requests);
    let differing = identical.filter(|identical| !identical).count();
    Ok(if differing == 0 { Ending::Done } else { Ending::BadAnswer(format!("{differing} counts differ between boots")) })
}

/// What is measured.
struct Plan {
    images: Vec<Image>,
    keys: Vec<Key>,
    runs: u32,
    requests: u32,
    clock_hz: u64,
}

impl Plan {
    fn of(arguments: &BoardArgs) -> anyhow::Result<Self> {
        let stacks = &arguments.stacks;
        let chosen = |image: &Image| stacks.contains(&image.stack) || image.stack == BoardStack::Both && stacks.len() > 1;
        let mut images = if arguments.matrix {
            Image::all()
        } else {
            let size = [BoardStack::BearSsl, BoardStack::MbedTls2, BoardStack::MbedTls3];
            let size = size.map(|stack| Image::usual(Cpu::CortexM0, stack, Optimization::Size));
            size.into_iter().chain(calibration::images()).chain(published::images()).collect()
        };
        images.retain(chosen);
        images.sort_unstable();
        images.dedup();
        let mut keys = arguments.keys.clone();
        if arguments.quick {
            keys.retain(|key| [Key::Rsa1024, Key::P256, Key::P384].contains(key));
        }
        if keys.is_empty() {
            bail!("--quick skips rsa-2048, the only key in --keys: remove --quick");
        }
        let (runs, requests) = if arguments.quick { (1, 2) } else { (arguments.runs, arguments.requests) };
        Ok(Self { images, keys, runs, requests, clock_hz: arguments.clock })
    }

    /// Each library of each image, with each key.
    fn handshakes(&self) -> Vec<(Image, u8, Key)> {
        let mut jobs = Vec::new();
        for &image in &self.images {
            let stacks = 0..image.stack.libraries().len() as u8;
            jobs.extend(stacks.flat_map(|stack| self.keys.iter().map(move |&key| (image, stack, key))));
        }
        jobs
    }

    fn witnesses(&self) -> Vec<(Image, Key)> {
        let single = self.images.iter().filter(|image| image.stack != BoardStack::Both);
        single.flat_map(|&image| self.keys.iter().map(move |&key| (image, key))).collect()
    }

    fn requests(&self) -> Vec<(Key, ResponseMode, u32)> {
        let mut counts = vec![1, self.requests];
        counts.dedup();
        let mut jobs = Vec::new();
        for &key in &self.keys {
            for answer in [ResponseMode::Fixed, ResponseMode::Http] {
                jobs.extend(counts.iter().map(|&requests| (key, answer, requests)));
            }
        }
        jobs
    }
}

/// A measurement under way.
struct Run<'a> {
    plan: &'a Plan,
    firmware: &'a Firmware,
    stop: Stop<'a>,
    progress: Progress,
}

impl Run<'_> {
    fn measure(&self) -> Result<BoardDocument, BoardError> {
        require_compiler()?;
        let mut left_out = Vec::new();
        let mut needs = |program, package| match require(program, package) {
            Ok(()) => true,
            Err(missing) => {
                left_out.push(missing.to_string());
                false
            }
        };
        let has_bearssl = self.plan.images.contains(&bearssl());
        let with_arm = needs(Qemu::ARM, "qemu-system-arm");
        let with_xtensa = needs(Qemu::XTENSA, "qemu-system-misc") && needs("xtensa-lx106-elf-gcc", "gcc-xtensa-lx106");

        let of_handshakes = self.plan.handshakes();
        let of_witnesses = if with_arm { self.plan.witnesses() } else { Vec::new() };
        let of_requests = if with_arm && has_bearssl { self.plan.requests() } else { Vec::new() };
        let of_esp8266 = if with_xtensa && has_bearssl { Esp8266Case::all() } else { Vec::new() };
        let images = self.plan.images.len() + usize::from(!of_esp8266.is_empty());
        let rows = of_handshakes.len() + of_witnesses.len() + of_requests.len() + of_esp8266.len();
        self.progress.plan((images + rows + usize::from(has_bearssl)) as u64);

        let images = self.plan.images.iter().map_while(|image| self.build(*image).transpose());
        let images: Vec<BuiltImage> = images.collect::<Result<_, _>>()?;
        let handshakes = self.handshakes(of_handshakes)?;
        let calibration = calibration::calibrate(&handshakes);
        let witnesses = self.witnesses(of_witnesses, &handshakes)?;
        let requests = self.requests(of_requests)?;
        let cache = if has_bearssl { self.cache()? } else { None };
        let esp8266 = self.esp8266(of_esp8266)?;
        let published = published::published(&Measured {
            handshakes: &handshakes,
            calibration: calibration.as_ref(),
            cache: cache.as_ref(),
            esp8266: esp8266.as_ref(),
        });
        Ok(BoardDocument {
            schema: BoardDocument::SCHEMA.to_owned(),
            clock_hz: self.plan.clock_hz,
            images,
            calibration,
            witnesses,
            requests,
            cache,
            esp8266,
            published,
            handshakes,
            left_out,
            interrupted: (self.stop)(),
            provenance: provenance(),
        })
    }

    fn handshakes(&self, jobs: Vec<(Image, u8, Key)>) -> Result<Vec<BoardHandshake>, BoardError> {
        let Plan { runs, clock_hz, .. } = *self.plan;
        let name = |&(image, _, key): &(Image, u8, Key)| format!("{image}, {}", key.name());
        let rows =
            self.rows(jobs, name, |&(image, stack, key)| self.firmware.handshakes(image, stack, key, runs, clock_hz))?;
        Ok(rows.into_iter().flatten().collect())
    }

    fn witnesses(&self, jobs: Vec<(Image, Key)>, rows: &[BoardHandshake]) -> Result<Vec<Witness>, BoardError> {
        let name = |&(image, key): &(Image, Key)| format!("{image}, {}, in QEMU", key.name());
        let witnesses = self.rows(jobs, name, |&(image, key)| {
            let name = image.to_string();
            let of_it: Vec<BoardHandshake> =
                rows.iter().filter(|row| row.image == name && row.key == key).cloned().collect();
            self.firmware.witness(image, key, &of_it)
        })?;
        Ok(witnesses.into_iter().flatten().collect())
    }

    fn requests(&self, jobs: Vec<(Key, ResponseMode, u32)>) -> Result<Vec<Requests>, BoardError> {
        let image = bearssl();
        let name =
            |&(key, _, count): &(Key, ResponseMode, u32)| format!("{image}, {}, requests: {count}, in QEMU", key.name());
        self.rows(jobs, name, |&(key, answer, count)| self.firmware.requests(image, key, answer, count))
    }

    fn cache(&self) -> Result<Option<CacheCost>, BoardError> {
        let cost = || self.firmware.cache_cost(Key::P256);
        self.unless_stopped(|| self.progress.step("with and without session cache", cost))
    }

    fn esp8266(&self, jobs: Vec<Esp8266Case>) -> Result<Option<Esp8266>, BoardError> {
        if jobs.is_empty() {
            return Ok(None);
        }
        let Plan { requests, runs, .. } = *self.plan;
        let Some(built) = self.build(Esp8266Case::image())? else { return Ok(None) };
        let name = |case: &Esp8266Case| format!("{}, {}, requests: {requests}", Esp8266Case::image(), case.key().name());
        let rows = self.rows(jobs, name, |&case| self.firmware.esp8266(case, requests, runs))?;
        Ok(Some(Esp8266::of(built, rows)))
    }

    fn build(&self, image: Image) -> Result<Option<BuiltImage>, BoardError> {
        self.unless_stopped(|| self.progress.step(&format!("{image}, build"), || self.firmware.build(image)))
    }

    fn rows<J: Sync, R: Send>(
        &self,
        jobs: Vec<J>,
        name: impl Fn(&J) -> String + Sync,
        work: impl Fn(&J) -> Result<R, BoardError> + Sync,
    ) -> Result<Vec<R>, BoardError> {
        side_by_side(jobs, self.stop, |job| self.progress.step(&name(job), || work(job)))
    }

    /// `None` after Ctrl-C, which ends the compiler too: what was measured before is kept.
    fn unless_stopped<T>(&self, work: impl FnOnce() -> Result<T, BoardError>) -> Result<Option<T>, BoardError> {
        if (self.stop)() {
            return Ok(None);
        }
        match work() {
            Err(_) if (self.stop)() => Ok(None),
            result => result.map(Some),
        }
    }
}

/// The image whose requests and session cache are measured too.
fn bearssl() -> Image {
    Image::usual(Cpu::CortexM0, BoardStack::BearSsl, Optimization::Size)
}

fn firmware(arguments: &BoardArgs) -> Result<Firmware, BoardError> {
    let folder = match &arguments.firmware {
        Some(folder) if folder.join("Makefile").is_file() => folder.clone(),
        Some(folder) => return Err(BoardError::NoSources(folder.clone())),
        None => find_firmware(&std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")))?,
    };
    let beside = folder.parent().unwrap_or(Path::new(".")).join("target/firmware");
    Ok(Firmware { output: arguments.images.clone().unwrap_or(beside), folder })
}
