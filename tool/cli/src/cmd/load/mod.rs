//! `reprise load TARGET`: how many handshakes a second does it hold, and who is the bottleneck?

mod flag_values;
mod flags;
mod generator_options;
mod live;
mod prerequisites;

pub(crate) use flags::LoadArgs;

use anyhow::Context;
use reprise_connection::{Fault, fault_name};
use reprise_load::{LoadOutcome, plan, search, sweep};
use reprise_model::document::{LoadDocument, Target as TargetRecord};
use reprise_model::{Failure, FailureClass};
use reprise_probe::Interrupt;
use reprise_report::Document;
use reprise_results::fault::{FaultContext, about};
use reprise_results::{fewer_connections, like_record, word_load};

use self::live::Live;
use crate::ending::Ending;
use crate::gate::{Gate, complaints};
use crate::notice::notice;
use crate::outputs::Outputs;
use crate::provenance::{ENGINE_LIBRARIES, RING, provenance_by};
use crate::secrets::without_query;
use crate::server_process::check_server;

pub(crate) fn run(arguments: LoadArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let arguments = arguments.aimed();
    let planned = arguments.plan_target()?;
    let gate = Gate::open(&arguments.gate, &arguments.planned(&arguments.kinds()))?;
    let outputs = Outputs::open(&arguments.output, &[])?;
    let addresses = match prerequisites::addresses(&arguments, arguments.connection.address()?, interrupt) {
        Ok(addresses) => prerequisites::without_strangers(&arguments, addresses)?,
        Err(fault) => return Ok(failed(&fault, &arguments)),
    };
    check_server(arguments.server_pid)?;
    let first = addresses.first().context("the target has no address")?;
    let mut options = arguments.options(*first)?;
    // All connections go to one address, so that a load is on one thing. None is made before all else is known to be in order.
    match reprise_probe::first_that_answers(&addresses, options.timeout, interrupt) {
        Ok(answers) => {
            options.address = answers.unwrap_or(options.address);
            if let Some(route) = &mut options.route {
                route.target_address = Some(options.address);
            }
        }
        Err(fault) => return Ok(failed(&fault, &arguments)),
    }
    prerequisites::check_listener(&arguments, options.address.port(), planned.is_some())?;
    let target = TargetRecord {
        host: arguments.target.host.clone(),
        port: options.address.port(),
        address: Some(options.address.ip().to_string()),
        path: (options.requests > 0 && arguments.is_http()).then(|| without_query(arguments.path().to_owned())),
        starttls: arguments.connection.starttls.map(|protocol| protocol.to_string()),
        proxy_protocol: arguments.connection.proxy_protocol.map(|version| version.name().to_owned()),
        like: arguments.connection.client().map(like_record),
        ech_grease: arguments.connection.ech_grease,
        ..TargetRecord::default()
    };
    options.fit_descriptors();
    if let Some(shortage) = options.shortage {
        notice(fewer_connections(shortage));
    }
    prerequisites::wait_for_start(&arguments, interrupt)?;
    let provenance = provenance_by(ENGINE_LIBRARIES.into_iter().chain([RING]));
    let stop = || interrupt.is_raised();
    let live = Live::new(&arguments.target.to_string(), &options);
    let (mut document, outcome, target_is_gone) = match (arguments.step_target(), arguments.shares()) {
        (None, Some(shares)) => {
            let Some(swept) = sweep(&options, &shares, &stop, &live)? else { return Ok(Ending::Interrupted) };
            let mut document = swept.document(target, interrupt.is_raised(), provenance);
            document.plan = planned.and_then(|target| plan(&swept.measured, target));
            let (outcome, options) = (&swept.outcome, &swept.options);
            let notices = outcome.notices(&document, options);
            word_load(&mut document, &outcome.reason(options), &notices);
            (document, swept.outcome, swept.target_is_gone)
        }
        (None, None) => {
            let outcome = reprise_load::run(&options, &stop, &live)?;
            let mut document = outcome.document(&options, target, interrupt.is_raised(), provenance);
            let notices = outcome.notices(&document, &options);
            word_load(&mut document, &outcome.reason(&options), &notices);
            let target_is_gone = outcome.target_is_gone();
            (document, outcome, target_is_gone)
        }
        (Some(step), _) => match search(&options, step, &stop, &live)? {
            None if interrupt.is_raised() => return Ok(Ending::Interrupted),
            None => anyhow::bail!("--step searches for a rate: set the first one to try with --rate R"),
            Some(found) => {
                let mut document = found.document(target, interrupt.is_raised(), provenance);
                let (outcome, options) = (&found.outcome, &found.options);
                let notices = outcome.notices(&document, options);
                word_load(&mut document, &found.reason(), &notices);
                (document, found.outcome, found.target_is_gone)
            }
        },
    };
    live.finish();
    document.conditions = gate.judge(&document);
    outputs.write(Document::Load(&document))?;
    Ok(match (ending(&document, &outcome, target_is_gone), complaints(&document.conditions)) {
        (Ending::Done, Some(complaints)) => Ending::BadAnswer(complaints),
        (ending, _) => ending,
    })
}

/// A target of which nothing completed cannot be loaded, and one that is gone at the end has died; one that answers has
/// answered, whatever failed beside.
fn ending(document: &LoadDocument, outcome: &LoadOutcome, target_is_gone: bool) -> Ending {
    if document.interrupted {
        return Ending::Interrupted;
    }
    let most = outcome.most_frequent_fault();
    // An alert's name says all that is known.
    let about = most.filter(|(fault, _)| !fault.is_refusal()).map(|(fault, _)| about(fault));
    let why = most.map_or_else(
        || "none was started".to_owned(),
        |(fault, count)| {
            let name = fault_name(fault);
            let reason = document.error_reasons.get(&name).map(String::as_str).or(about.map(|(meaning, _)| meaning));
            format!("{count} failed with {name}{}", reason.map(|reason| format!(" ({reason})")).unwrap_or_default())
        },
    );
    let failed = |class, name: &str, message| {
        let measure = "`reprise measure` shows more about a single connection to this target";
        let hint = match about {
            Some((_, next_step)) if !next_step.is_empty() => format!("{next_step}; {measure}"),
            _ => measure.to_owned(),
        };
        Ending::Failed(Failure { class, name: name.to_owned(), message, hint: Some(hint), local_port: None })
    };
    if document.has_any() {
        if target_is_gone {
            return failed(FailureClass::Connect, "target_died", format!("the target stopped responding under load: {why}"));
        }
        return Ending::Done;
    }
    failed(FailureClass::Tls, "nothing_completed", format!("no connection completed: {why}"))
}

/// A target that cannot be reached at all.
fn failed(fault: &Fault, arguments: &LoadArgs) -> Ending {
    Ending::Failed(reprise_results::failure(
        fault,
        &FaultContext { timeout: arguments.connection.timeout, ..FaultContext::default() },
    ))
}
