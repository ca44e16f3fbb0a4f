//! `reprise board`: the same server on emulated microcontrollers.

mod flags;
mod page;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reprise_board::document::{BoardDocument, Handshake, Requests, Witness};
use reprise_board::{
    Answer, Cpu, Fault, Image, Key, Optimization, Qemu, Stack, Workshop, calibration, fetch_sources, find_firmware, require,
    require_compiler, side_by_side,
};
use reprise_probe::Interrupt;

use crate::ending::{self, Ending};
use crate::notice::notice;
use crate::outputs::{Outputs, check_that_files_differ};
use crate::provenance::provenance;

pub(crate) use flags::BoardArgs;

pub(crate) fn run(arguments: BoardArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    check_that_files_differ(&arguments.outputs.files())?;
    let workshop = workshop(&arguments)?;
    let outputs = Outputs::open(&arguments.outputs)?;
    let stop = watch(interrupt);
    let document = measure(&Plan::of(&arguments), &workshop, &stop)?;
    outputs.write(&document)?;
    if interrupt.is_raised() {
        std::process::exit(ending::INTERRUPTED.into());
    }
    let differing = document.handshakes.iter().filter(|row| !row.identical).count();
    Ok(if differing == 0 {
        Ending::Done
    } else {
        Ending::BadAnswer(format!("{differing} counts differ between boots, which they must not"))
    })
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
    fn of(arguments: &BoardArgs) -> Self {
        let stacks: Vec<Stack> = arguments.stacks.iter().map(|&name| name.into()).collect();
        let chosen = |image: &Image| stacks.contains(&image.stack) || image.stack == Stack::Both && stacks.len() > 1;
        let mut images = if arguments.matrix {
            Image::all()
        } else {
            let size = [Stack::BearSsl, Stack::MbedTls2, Stack::MbedTls3];
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
        let (runs, requests) = if arguments.quick { (1, 2) } else { (arguments.runs, arguments.requests) };
        Self { images, keys, runs, requests, clock_hz: arguments.clock }
    }
}

fn measure(plan: &Plan, workshop: &Workshop, stop: &AtomicBool) -> Result<BoardDocument, Fault> {
    require_compiler()?;
    fetch_sources(&workshop.firmware, &workshop.output)?;
    notice(format_args!("building {} images", plan.images.len()));
    let images = side_by_side(plan.images.clone(), stop, |image| workshop.build(*image))?;
    notice("measuring on the Cortex-M0+");
    let handshakes = handshakes(plan, workshop, stop)?;
    let bearssl = Image::usual(Cpu::CortexM0, Stack::BearSsl, Optimization::Size);
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

    let witnesses = if with_arm { witnesses(plan, workshop, &handshakes, stop)? } else { Vec::new() };
    let requests = if with_arm && has_bearssl { requests(plan, workshop, bearssl, stop)? } else { Vec::new() };
    let cache = if has_bearssl && !stop.load(Ordering::Relaxed) { Some(workshop.cache_cost(Key::P256)?) } else { None };
    let esp8266 = if with_xtensa && has_bearssl && !stop.load(Ordering::Relaxed) {
        notice("measuring on the ESP8266's CPU");
        Some(workshop.esp8266(plan.requests, plan.runs, stop)?)
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
        provenance: provenance(),
    })
}

fn handshakes(plan: &Plan, workshop: &Workshop, stop: &AtomicBool) -> Result<Vec<Handshake>, Fault> {
    let mut jobs = Vec::new();
    for &image in &plan.images {
        let stacks = if image.stack == Stack::Both { 0..2 } else { 0..1 };
        jobs.extend(stacks.flat_map(|stack| plan.keys.iter().map(move |&key| (image, stack, key))));
    }
    let rows =
        side_by_side(jobs, stop, |&(image, stack, key)| workshop.handshakes(image, stack, key, plan.runs, plan.clock_hz))?;
    Ok(rows.into_iter().flatten().collect())
}

fn witnesses(plan: &Plan, workshop: &Workshop, rows: &[Handshake], stop: &AtomicBool) -> Result<Vec<Witness>, Fault> {
    let single = plan.images.iter().filter(|image| image.stack != Stack::Both);
    let jobs = single.flat_map(|&image| plan.keys.iter().map(move |&key| (image, key))).collect();
    let witnesses = side_by_side(jobs, stop, |&(image, key)| {
        let name = image.to_string();
        let of_it: Vec<Handshake> = rows.iter().filter(|row| row.image == name && row.key == key).cloned().collect();
        workshop.witness(image, key, &of_it)
    })?;
    Ok(witnesses.into_iter().flatten().collect())
}

fn requests(plan: &Plan, workshop: &Workshop, image: Image, stop: &AtomicBool) -> Result<Vec<Requests>, Fault> {
    let mut counts = vec![1, plan.requests];
    counts.dedup();
    let mut jobs = Vec::new();
    for &key in &plan.keys {
        for answer in [Answer::Fixed, Answer::Http] {
            jobs.extend(counts.iter().map(|&requests| (key, answer, requests)));
        }
    }
    side_by_side(jobs, stop, |&(key, answer, requests)| workshop.requests(image, key, answer, requests))
}

fn workshop(arguments: &BoardArgs) -> Result<Workshop, Fault> {
    let firmware = match &arguments.firmware {
        Some(folder) if folder.join("Makefile").is_file() => folder.clone(),
        Some(folder) => return Err(Fault::NoSources(folder.clone())),
        None => find_firmware(&std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")))?,
    };
    let beside = firmware.parent().unwrap_or(Path::new(".")).join("target/firmware");
    Ok(Workshop { output: arguments.images.clone().unwrap_or(beside), firmware })
}

/// Ctrl-C ends the measurement after the connections that are under way.
fn watch(interrupt: &Interrupt) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let (interrupt, raised) = (interrupt.clone(), Arc::downgrade(&stop));
    std::thread::spawn(move || {
        while let Some(stop) = raised.upgrade() {
            stop.store(interrupt.is_raised(), Ordering::Relaxed);
            drop(stop);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    stop
}
