//! `reprise board`: the same server on emulated microcontrollers.

mod flags;
mod listen;

use std::path::{Path, PathBuf};

use anyhow::bail;
use reprise_board::document::{BoardDocument, BoardHandshake, Requests, Witness};
use reprise_board::{
    BoardError, BoardStack, Cpu, Firmware, Image, Key, Optimization, Qemu, ResponseMode, Stop, calibration, find_firmware,
    require, require_compiler, side_by_side,
};
use reprise_probe::Interrupt;

use crate::ending::Ending;
use crate::notice::notice;
use crate::outputs::Outputs;
use crate::provenance::provenance;

pub(crate) use flags::BoardArgs;

pub(crate) fn run(arguments: BoardArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let firmware = firmware(&arguments)?;
    let stop = || interrupt.is_raised();
    if let Some(address) = arguments.listen {
        return listen::run(&firmware, &arguments, address, &stop);
    }
    let plan = Plan::of(&arguments)?;
    let outputs = Outputs::open(&arguments.outputs.files(), &[])?;
    let document = measure(&plan, &firmware, &stop)?;
    outputs.write(&document)?;
    if document.interrupted {
        return Ok(Ending::interrupted());
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
        let stacks: Vec<BoardStack> = arguments.stacks.iter().map(|&name| name.into()).collect();
        let chosen = |image: &Image| stacks.contains(&image.stack) || image.stack == BoardStack::Both && stacks.len() > 1;
        let mut images = if arguments.matrix {
            Image::all()
        } else {
            let size = [BoardStack::BearSsl, BoardStack::MbedTls2, BoardStack::MbedTls3];
            let size = size.map(|stack| Image::usual(Cpu::CortexM0, stack, Optimization::Size));
            size.into_iter().chain(calibration::images()).collect()
        };
        images.retain(chosen);
        images.sort_unstable();
        images.dedup();
        let mut keys: Vec<Key> = arguments.keys.iter().map(|&name| name.into()).collect();
        if arguments.quick {
            keys.retain(|key| [Key::Rsa1024, Key::P256, Key::P384].contains(key));
        }
        if keys.is_empty() {
            bail!("--quick skips rsa-2048, the only key in --keys: remove --quick");
        }
        let (runs, requests) = if arguments.quick { (1, 2) } else { (arguments.runs, arguments.requests) };
        Ok(Self { images, keys, runs, requests, clock_hz: arguments.clock })
    }
}

fn measure(plan: &Plan, firmware: &Firmware, stop: Stop<'_>) -> Result<BoardDocument, BoardError> {
    require_compiler()?;
    let mut images = Vec::new();
    for (index, image) in plan.images.iter().enumerate() {
        notice(format_args!("building {image} ({} of {})", index + 1, plan.images.len()));
        match unless_stopped(firmware.build(*image), stop)? {
            Some(built) => images.push(built),
            None => break,
        }
    }
    notice("measuring on the Cortex-M0+");
    let handshakes = handshakes(plan, firmware, stop)?;
    let bearssl = Image::usual(Cpu::CortexM0, BoardStack::BearSsl, Optimization::Size);
    let has_bearssl = plan.images.contains(&bearssl);

    let mut left_out = Vec::new();
    let mut needs = |program, package| match require(program, package) {
        Ok(()) => true,
        Err(missing) => {
            left_out.push(missing.to_string());
            false
        }
    };
    let with_arm = needs(Qemu::ARM, "qemu-system-arm");
    let with_xtensa = needs(Qemu::XTENSA, "qemu-system-misc") && needs("xtensa-lx106-elf-gcc", "gcc-xtensa-lx106");

    let witnesses = if with_arm { witnesses(plan, firmware, &handshakes, stop)? } else { Vec::new() };
    let requests = if with_arm && has_bearssl { requests(plan, firmware, bearssl, stop)? } else { Vec::new() };
    let cache = if has_bearssl && !stop() { unless_stopped(firmware.cache_cost(Key::P256), stop)? } else { None };
    let esp8266 = if with_xtensa && has_bearssl && !stop() {
        notice("measuring on the ESP8266's CPU");
        unless_stopped(firmware.esp8266(plan.requests, plan.runs, stop), stop)?
    } else {
        None
    };
    Ok(BoardDocument {
        schema: BoardDocument::SCHEMA.to_owned(),
        clock_hz: plan.clock_hz,
        images,
        calibration: calibration::calibrate(&handshakes),
        handshakes,
        requests,
        cache,
        witnesses,
        esp8266,
        left_out,
        interrupted: stop(),
        provenance: provenance(),
    })
}

/// `None` where it failed after Ctrl-C, which ends the compiler too: what was measured before is kept.
fn unless_stopped<T>(result: Result<T, BoardError>, stop: Stop<'_>) -> Result<Option<T>, BoardError> {
    match result {
        Err(_) if stop() => Ok(None),
        result => result.map(Some),
    }
}

fn handshakes(plan: &Plan, firmware: &Firmware, stop: Stop<'_>) -> Result<Vec<BoardHandshake>, BoardError> {
    let mut jobs = Vec::new();
    for &image in &plan.images {
        let stacks = 0..image.stack.libraries().len() as u8;
        jobs.extend(stacks.flat_map(|stack| plan.keys.iter().map(move |&key| (image, stack, key))));
    }
    let rows =
        side_by_side(jobs, stop, |&(image, stack, key)| firmware.handshakes(image, stack, key, plan.runs, plan.clock_hz))?;
    Ok(rows.into_iter().flatten().collect())
}

fn witnesses(plan: &Plan, firmware: &Firmware, rows: &[BoardHandshake], stop: Stop<'_>) -> Result<Vec<Witness>, BoardError> {
    let single = plan.images.iter().filter(|image| image.stack != BoardStack::Both);
    let jobs = single.flat_map(|&image| plan.keys.iter().map(move |&key| (image, key))).collect();
    let witnesses = side_by_side(jobs, stop, |&(image, key)| {
        let name = image.to_string();
        let of_it: Vec<BoardHandshake> = rows.iter().filter(|row| row.image == name && row.key == key).cloned().collect();
        firmware.witness(image, key, &of_it)
    })?;
    Ok(witnesses.into_iter().flatten().collect())
}

fn requests(plan: &Plan, firmware: &Firmware, image: Image, stop: Stop<'_>) -> Result<Vec<Requests>, BoardError> {
    let mut counts = vec![1, plan.requests];
    counts.dedup();
    let mut jobs = Vec::new();
    for &key in &plan.keys {
        for answer in [ResponseMode::Fixed, ResponseMode::Http] {
            jobs.extend(counts.iter().map(|&requests| (key, answer, requests)));
        }
    }
    side_by_side(jobs, stop, |&(key, answer, requests)| firmware.requests(image, key, answer, requests))
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
