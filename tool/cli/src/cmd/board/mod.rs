//! `reprise board`: the same server on emulated microcontrollers.

mod flags;
mod listen;

use std::path::{Path, PathBuf};

use anyhow::bail;
use reprise_board::document::{BoardDocument, BoardHandshake, BuiltImage, CacheCost, Esp8266, Requests, Supply, Witness};
use reprise_board::published::MeasuredFigures;
use reprise_board::{
    BoardCase, BoardError, BoardKey, BoardStack, Cpu, Esp8266Case, Firmware, Image, Offers, Optimization, Qemu,
    ResponseMode, Stop, calibration, find_firmware, published, require, require_compiler, side_by_side,
};
use reprise_probe::Interrupt;
use reprise_report::Document;
use reprise_wire::{CipherSuite, NamedGroup};

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
    keys: Vec<BoardKey>,
    runs: u32,
    requests: u32,
    clock_hz: u64,
    supply: Option<Supply>,
    groups: Option<Vec<NamedGroup>>,
    suites: Option<Vec<CipherSuite>>,
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
            let smaller = if arguments.quick { Vec::new() } else { Image::smaller() };
            size.into_iter().chain(calibration::images()).chain(published::images()).chain(smaller).collect()
        };
        images.retain(chosen);
        images.sort_unstable();
        images.dedup();
        let mut keys = arguments.keys.clone();
        if arguments.quick {
            keys.retain(|key| [BoardKey::Rsa1024, BoardKey::P256, BoardKey::P384].contains(key));
        }
        if keys.is_empty() {
            bail!("--quick skips rsa-2048, the only key in --keys: remove --quick");
        }
        let (runs, requests) = if arguments.quick { (1, 2) } else { (arguments.runs, arguments.requests) };
        let groups = arguments.groups.clone().map(|list| list.0);
        let suites = arguments.suites.clone().map(|list| list.0);
        let supply = arguments.current.map(|milliamperes| Supply { milliamperes, volts: arguments.voltage });
        let plan = Self { images, keys, runs, requests, clock_hz: arguments.clock, supply, groups, suites };
        let lacking = plan.keys.iter().find_map(|&key| Some((key, plan.offers(key).lacks(key)?)));
        match lacking {
            Some((key, what)) => {
                bail!("a server with the key {0} needs {what}: offer that too, or leave out {0} by --keys", key.name())
            }
            None => Ok(plan),
        }
    }

    /// What clients of a server with this key offer.
    fn offers(&self, key: BoardKey) -> Offers {
        let alike = Offers::alike(key);
        let (groups, suites) = (self.groups.clone(), self.suites.clone());
        Offers { groups: groups.unwrap_or(alike.groups), suites: suites.unwrap_or(alike.suites) }
    }

    fn case(&self, image: Image, stack: u8, key: BoardKey) -> BoardCase {
        BoardCase { image, stack, key, offers: self.offers(key) }
    }

    /// Each library of each image, with each key.
    fn handshakes(&self) -> Vec<BoardCase> {
        let mut jobs = Vec::new();
        for &image in &self.images {
            let stacks = 0..image.stack.libraries().len() as u8;
            jobs.extend(stacks.flat_map(|stack| self.keys.iter().map(move |&key| self.case(image, stack, key))));
        }
        jobs
    }

    /// The reports' boards and clients, which chose for themselves.
    fn reported(&self) -> Vec<BoardCase> {
        let mut images: Vec<Image> = calibration::images().into_iter().chain(published::images()).collect();
        images.retain(|image| self.images.contains(image));
        images.sort_unstable();
        images.dedup();
        let keys = || calibration::KEYS.into_iter().filter(|key| self.keys.contains(key));
        let of = |image| keys().map(move |key| BoardCase { image, stack: 0, key, offers: Offers::common() });
        images.into_iter().flat_map(of).collect()
    }

    fn witnesses(&self) -> Vec<BoardCase> {
        let single = self.images.iter().filter(|image| image.stack != BoardStack::Both);
        single.flat_map(|&image| self.keys.iter().map(move |&key| self.case(image, 0, key))).collect()
    }

    fn requests(&self) -> Vec<(BoardCase, ResponseMode, u32)> {
        let mut counts = vec![1, self.requests];
        counts.dedup();
        let mut jobs = Vec::new();
        for &key in &self.keys {
            for answer in [ResponseMode::Fixed, ResponseMode::Http] {
                jobs.extend(counts.iter().map(|&requests| (self.case(bearssl(), 0, key), answer, requests)));
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
        let of_reported = self.plan.reported();
        let of_witnesses = if with_arm { self.plan.witnesses() } else { Vec::new() };
        let of_requests = if with_arm && has_bearssl { self.plan.requests() } else { Vec::new() };
        let of_esp8266 = if with_xtensa && has_bearssl { Esp8266Case::all() } else { Vec::new() };
        let images = self.plan.images.len() + usize::from(!of_esp8266.is_empty());
        let rows = of_handshakes.len() + of_reported.len() + of_witnesses.len() + of_requests.len() + of_esp8266.len();
        self.progress.plan((images + rows + usize::from(has_bearssl)) as u64);

        let images = self.plan.images.iter().map_while(|image| self.build(*image).transpose());
        let images: Vec<BuiltImage> = images.collect::<Result<_, _>>()?;
        let handshakes = self.handshakes(of_handshakes)?;
        let reported = self.handshakes(of_reported)?;
        let calibration = calibration::calibrate(&reported);
        let witnesses = self.witnesses(of_witnesses, &handshakes)?;
        let requests = self.requests(of_requests)?;
        let cache = if has_bearssl { self.cache()? } else { None };
        let esp8266 = self.esp8266(of_esp8266)?;
        let published = published::published(&MeasuredFigures {
            handshakes: &reported,
            calibration: calibration.as_ref(),
            cache: cache.as_ref(),
            esp8266: esp8266.as_ref(),
        });
        Ok(BoardDocument {
            schema: BoardDocument::SCHEMA.to_owned(),
            clock_hz: self.plan.clock_hz,
            supply: self.plan.supply,
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

    fn handshakes(&self, jobs: Vec<BoardCase>) -> Result<Vec<BoardHandshake>, BoardError> {
        let Plan { runs, clock_hz, supply, .. } = *self.plan;
        let rows = self.rows(jobs, name, |case| self.firmware.handshakes(case, runs, clock_hz))?;
        let mut rows: Vec<BoardHandshake> = rows.into_iter().flatten().collect();
        for row in &mut rows {
            row.energy_uj = supply.zip(row.modelled_ns).map(|(supply, taken)| supply.energy_uj(taken));
        }
        Ok(rows)
    }

    fn witnesses(&self, jobs: Vec<BoardCase>, rows: &[BoardHandshake]) -> Result<Vec<Witness>, BoardError> {
        let in_qemu = |case: &BoardCase| format!("{}, in QEMU", name(case));
        let witnesses = self.rows(jobs, in_qemu, |case| {
            let image = case.image.to_string();
            let of_it: Vec<BoardHandshake> =
                rows.iter().filter(|row| row.image == image && row.key == case.key).cloned().collect();
            self.firmware.witness(case, &of_it)
        })?;
        Ok(witnesses.into_iter().flatten().collect())
    }

    fn requests(&self, jobs: Vec<(BoardCase, ResponseMode, u32)>) -> Result<Vec<Requests>, BoardError> {
        let name = |(case, _, count): &(BoardCase, ResponseMode, u32)| format!("{}, requests: {count}, in QEMU", name(case));
        self.rows(jobs, name, |(case, answer, count)| self.firmware.requests(case, *answer, *count))
    }

    fn cache(&self) -> Result<Option<CacheCost>, BoardError> {
        let case = BoardCase { image: bearssl(), stack: 0, key: BoardKey::P256, offers: Offers::common() };
        let cost = || self.firmware.cache_cost(&case);
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

/// As the progress calls it.
fn name(case: &BoardCase) -> String {
    format!("{}, {}", case.image, case.key.name())
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
