//! Where results go: files, standard output, a pipe that nobody reads, a disk that is full.

use std::fs;
use std::path::Path;

use reprise_lab::{EmbeddedServer, Resumption};
use reprise_model::document::MeasureDocument;

use reprise_harness::{Lab, Outcome, Reprise, wait_until};

fn server(lab: &Lab) -> EmbeddedServer {
    lab.server(Resumption::Ticket)
}

/// A call whose outputs are the test's own.
fn call(lab: &Lab, server: &EmbeddedServer, arguments: &[&str]) -> Reprise {
    let target = server.address().to_string();
    Reprise::new(["measure", &target, "--count", "2", "--ca"]).arg(lab.ca()).args(arguments)
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_closed_pipe_ends_in_silence() {
    let lab = Lab::new();
    let server = server(&lab);
    for arguments in [&[][..], &["--json", "-"], &["--csv", "-"], &["--markdown", "-"], &["--html", "-"]] {
        call(&lab, &server, arguments).run_into_closed_pipe().exits(0).silently();
    }
    lab.measure(server.address()).count(2).run_into_closed_pipe().exits(0).silently().document();
}

#[test]
fn help_into_a_closed_pipe_ends_in_silence() {
    Reprise::new(["measure", "--help"]).run_into_closed_pipe().exits(0).silently();
}

/// Every command that measures, with a target, and the flags that name its outputs.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("measure", &["--json", "--csv", "--markdown", "--html", "--har", "--junit"]),
    ("trace", &["--json", "--csv", "--markdown", "--html", "--har", "--pcap", "--session-out"]),
    ("diagnose", &["--json", "--csv", "--markdown", "--html", "--junit", "--sarif"]),
    ("load", &["--json", "--csv", "--markdown", "--html", "--junit"]),
];

/// Those that have no target.
const WITHOUT_TARGET: [&str; 3] = ["compare resumption --quick", "layers", "report gone.json --merge"];

#[test]
fn an_unwritable_output_is_reported_before_any_connection() {
    let lab = Lab::new();
    let server = server(&lab);
    let target = server.address().to_string();
    let absent = lab.path("no/such/directory");
    let no_directory = format!("there is no directory {}: create it first", absent.display());
    let result = absent.join("result");
    let mut places = vec![(name(&result), &*no_directory), (name(lab.directory()), "it is a directory: name a file in it")];
    if cfg!(target_os = "linux") {
        places.push(("/proc/result", "no file can be created in /proc"));
        places.push((FULL_DEVICE, "No space left on device"));
    }
    for (place, why) in places {
        for (command, flags) in COMMANDS {
            for flag in flags.iter().filter(|flag| (**flag, place) != ("--session-out", FULL_DEVICE)) {
                Reprise::new([command, &target, flag, place]).run().exits(2).says(&["cannot write", place, why]);
            }
        }
        for command in WITHOUT_TARGET {
            Reprise::without_plugins(command).args(["--json", place]).run().exits(2).says(&["cannot write", place, why]);
        }
    }
    assert_eq!((server.completed(), server.failures().len()), (0, 0));
}

/// Where every write fails, but for one of no bytes.
const FULL_DEVICE: &str = "/dev/full";

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_reported_before_any_connection() {
    let lab = Lab::new();
    let server = server(&lab);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reprise"));
    let full = fs::File::options().write(true).open(FULL_DEVICE).unwrap();
    let ended = command.args(["measure", &server.address().to_string(), "--insecure"]).stdout(full).output().unwrap();
    assert_eq!((ended.status.code(), server.completed()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("cannot write standard output"));
}

/// What was measured before is worth more than why nothing was this time.
#[test]
fn a_run_that_measured_nothing_leaves_the_earlier_result() {
    let lab = Lab::new();
    let gone = "127.0.0.1:1";
    for (command, flags) in COMMANDS {
        // A load waits for a server that may yet start.
        for flag in flags.iter().take(if command == "load" { 1 } else { flags.len() }) {
            let old = lab.file("old", "mine");
            let call = |path| Reprise::new([command, gone, "--insecure", flag, name(path)]).run().exits(3);
            let outcome = call(&old);
            // Which write nothing then, whatever is there.
            if command != "load" && *flag != "--session-out" {
                outcome.says(&["nothing was measured", name(&old), "keeps its earlier content"]);
            }
            assert_eq!(fs::read_to_string(&old).unwrap(), "mine", "{command} {flag}");
            // An empty file holds no result to keep. The new document says why nothing was measured.
            if *flag == "--json" && command != "load" {
                let empty = lab.file("empty", "");
                call(&empty);
                assert!(fs::read_to_string(&empty).unwrap().contains("connection_refused"), "{command}");
            }
        }
    }
    let old = lab.file("old", "mine");
    let arguments = format!("layers {gone} --levels ssl --stacks rustls-aws-lc -n 1 --json");
    Reprise::without_plugins(&arguments).arg(&old).run().exits(1).says(&["keeps its earlier content"]);
    assert_eq!(fs::read_to_string(&old).unwrap(), "mine");
    let mut left = fs::read_dir(lab.directory()).unwrap().map(|it| it.unwrap().path());
    assert!(left.all(|path| path.extension().is_none_or(|it| it != "part")));
}

#[test]
fn what_was_measured_until_ctrl_c_replaces_the_earlier_result() {
    let lab = Lab::new();
    for command in ["measure --count 1000000", "load --duration 1h --rate 100", "diagnose --fill 100000 --max-time 1h"] {
        let server = server(&lab);
        let old = lab.file("old", "mine");
        let call = Reprise::line(command).arg(server.address().to_string()).arg("--insecure").arg("--json").arg(&old);
        let running = call.start();
        wait_until("some connections", || server.completed() > 40);
        assert_eq!(fs::read_to_string(&old).unwrap(), "mine", "{command}");
        running.interrupt();
        running.finish().exits(130).shows(&["Incomplete"]);
        let document: serde_json::Value = serde_json::from_str(&fs::read_to_string(&old).unwrap()).unwrap();
        let is_marked = [&document["interrupted"], &document["targets"][0]["incomplete"]].iter().any(|it| **it == true);
        assert!(is_marked, "{command}: {document}");
    }
}

/// What is found out after the outputs are open: by every command that has any.
#[test]
fn a_usage_error_leaves_no_new_file_and_what_was_there() {
    let lab = Lab::new();
    let (new, old) = (lab.path("new"), lab.file("old", "mine"));
    let gone = lab.path("gone.pem");
    let (nowhere, gone) = ("127.0.0.1:1", name(&gone));
    let commands: [(&[&str], &[&str]); 5] = [
        (&["measure", nowhere, "--cert", gone], &["--json", "--csv", "--markdown"]),
        (&["measure", nowhere, "--cert", gone, "--every", "1s"], &["--json"]),
        (
            &["trace", nowhere, "--cert", gone],
            &["--json", "--csv", "--markdown", "--html", "--har", "--pcap", "--session-out"],
        ),
        // A documentation address (RFC 5737): it is not this machine's, so its owner's leave is asked for first.
        (&["load", "192.0.2.1"], &["--json", "--csv", "--markdown"]),
        (&["report", gone], &["--json", "--csv", "--markdown"]),
    ];
    for (command, flags) in commands {
        for flag in flags {
            let call = |path| Reprise::new(command).args([flag, name(path)]).run();
            call(&new).exits(2);
            assert!(!new.exists(), "{command:?} {flag}");
            // Which a watch appends to, and refuses before all else.
            call(&old).exits(2);
            assert_eq!(fs::read_to_string(&old).unwrap(), "mine", "{command:?} {flag}");
        }
    }
    // One that cannot be opened does not leave the others behind either.
    let both = ["measure", nowhere, "--json", name(&new), "--csv", name(lab.directory())];
    Reprise::new(both).run().exits(2).says(&["cannot write"]);
    assert!(!new.exists());
}

/// What is said there is worth less than what is measured.
#[cfg(unix)]
#[test]
fn a_standard_error_that_nobody_can_read_costs_nothing() {
    let lab = Lab::new();
    let server = server(&lab);
    let target = server.address().to_string();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let json = lab.path("result.json");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reprise"));
    command.args(["measure", &target, "--insecure", "--count", "2", "--json", name(&json)]);
    let status = command.stdout(std::process::Stdio::null()).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(0), "--insecure is warned of on standard error");
    serde_json::from_str::<MeasureDocument>(&fs::read_to_string(json).unwrap()).unwrap();
}

#[cfg(unix)]
#[test]
fn of_an_unused_output_behind_a_link_the_link_stays() {
    let lab = Lab::new();
    let (link, behind) = (lab.path("link"), lab.path("behind"));
    std::os::unix::fs::symlink(&behind, &link).unwrap();
    Reprise::new(["report", "gone.json", "--json", name(&link)]).run().exits(2);
    assert!(!behind.exists() && link.symlink_metadata().unwrap().is_symlink());
    let server = server(&lab);
    call(&lab, &server, &["--json", name(&link)]).run().exits(0);
    assert!(behind.metadata().unwrap().len() > 0);
}

#[cfg(unix)]
#[test]
fn a_full_disk_costs_neither_page_nor_earlier_result() {
    let lab = Lab::new();
    let server = server(&lab);
    let (old, new) = (lab.file("old", "mine"), lab.path("new"));
    let before = fs::read_dir(lab.directory()).unwrap().count();
    let target = server.address().to_string();
    let arguments = ["measure", &target, "--count", "2", "--insecure", "--json", name(&old), "--csv", name(&new)];
    let outcome = Reprise::on_a_full_disk(arguments).run().exits(2);
    let full = format!("cannot write {} (its earlier content is still there): File too large", old.display());
    outcome.says(&[&full]).shows(&["TLS 1.3", "Medians"]);
    assert_eq!(fs::read_to_string(&old).unwrap(), "mine");
    assert_eq!(fs::read_dir(lab.directory()).unwrap().count(), before, "nothing stays behind");
    // One output that fails takes no other along.
    let arguments = ["measure", &target, "--count", "2", "--insecure", "--json", name(&old), "--csv", "-"];
    let csv = Reprise::on_a_full_disk(arguments).run().exits(2).page;
    assert!(csv.lines().count() > 1, "{csv}");
}

#[test]
fn a_document_on_standard_output_stands_there_alone() {
    let lab = Lab::new();
    let server = server(&lab);
    let outcome = call(&lab, &server, &["--json", "-"]).run().exits(0).silently();
    let document: MeasureDocument = serde_json::from_str(&outcome.page).unwrap();
    assert_eq!(document.schema, "reprise.measure/1");
    assert!(outcome.page.ends_with("}\n"));
    let csv = call(&lab, &server, &["--csv", "-"]).run().exits(0).silently().page;
    #[cfg(unix)]
    {
        let by_name = call(&lab, &server, &["--json", "/dev/stdout"]).run().exits(0).silently();
        serde_json::from_str::<MeasureDocument>(&by_name.page).unwrap();
    }
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.len() > 4 && columns.iter().all(|&count| count == columns[0]), "{csv}");
    let markdown = call(&lab, &server, &["--markdown", "-"]).run().exits(0).silently();
    markdown.shows(&["| TLS | kind |"]);
}

#[test]
fn a_result_on_standard_input_is_shown_and_compared_with() {
    let lab = Lab::new();
    let server = server(&lab);
    let json = lab.path("result.json");
    call(&lab, &server, &["--json", name(&json)]).run().exits(0);
    Reprise::new(["report", "-"]).reading(&json).run().exits(0).silently().shows(&["TLS 1.3", "Medians"]);
    let compared = lab.measure(server.address()).count(2).args(["--baseline", "-"]).reading(&json).run().exits(0);
    assert!(compared.document().baseline.is_some());
    let none = lab.file("none.json", "[]");
    let refused = Reprise::new(["report", "-"]).reading(&none).run().exits(2);
    refused.says(&["standard input is not a result of reprise", "an object with the field `schema`"]);
}

#[test]
fn conditions_of_the_lab_are_reported_as_junit() {
    let lab = Lab::new();
    let json = lab.path("lab.json");
    let condition = "failed > 0";
    Reprise::new(["measure", "--count", "1", "--fail-if", condition, "--json", name(&json)]).run().exits(0);
    Reprise::new(["report", name(&json), "--junit", "-"]).run().exits(0).shows(&["failed &gt; 0", "failures=\"0\""]);
}

#[test]
fn two_documents_cannot_share_standard_output() {
    let lab = Lab::new();
    let server = server(&lab);
    let outcome = call(&lab, &server, &["--json", "-", "--csv", "-"]).run().exits(2);
    outcome.says(&["only one of --json and --csv can go to standard output"]);
    assert_eq!(server.completed(), 0);
}

#[test]
fn every_format_at_once_beside_the_page() {
    let lab = Lab::new();
    let server = server(&lab);
    let [json, csv, markdown] = ["result.json", "result.csv", "result.md"].map(|file| lab.path(file));
    let arguments = ["--json", name(&json), "--csv", name(&csv), "--markdown", name(&markdown)];
    call(&lab, &server, &arguments).run().exits(0).shows(&["Medians"]);
    assert!([json, csv, markdown].iter().all(|path| fs::metadata(path).unwrap().len() > 100));
}

#[test]
fn a_result_replaces_what_was_there_to_its_last_byte() {
    let lab = Lab::new();
    let server = server(&lab);
    let path = lab.file("result.json", "x".repeat(1_000_000));
    call(&lab, &server, &["--json", name(&path)]).run().exits(0);
    assert!(serde_json::from_str::<MeasureDocument>(&fs::read_to_string(path).unwrap()).is_ok());
}

#[test]
fn a_saved_result_is_written_again_to_the_byte() {
    let lab = Lab::new();
    let server = server(&lab);
    let [json, csv, markdown] = ["result.json", "result.csv", "result.md"].map(|file| lab.path(file));
    let arguments = ["--count", "7", "--json", name(&json), "--csv", name(&csv), "--markdown", name(&markdown)];
    let target = server.address().to_string();
    let page = Reprise::new(["measure", &target, "--ca"]).arg(lab.ca()).args(arguments).run().exits(0).page;
    let report = |arguments: &[&str]| Reprise::new(["report"]).arg(&json).args(arguments).run().exits(0).silently().page;
    assert_eq!(report(&[]), page);
    for (flag, path) in [("--json", &json), ("--csv", &csv), ("--markdown", &markdown)] {
        assert_eq!(report(&[flag, "-"]), fs::read_to_string(path).unwrap(), "{flag}");
    }
}

#[test]
fn what_is_no_saved_result_is_refused_in_words() {
    let lab = Lab::new();
    let server = server(&lab);
    let saved = lab.measure(server.address()).count(1).run().exits(0).json.unwrap();
    let line = serde_json::from_str::<serde_json::Value>(&saved).unwrap().to_string();
    for (contents, words) in [
        (String::new(), "it is empty"),
        ("[".repeat(100_000), "is not a result of reprise"),
        ("{}".to_owned(), "missing field `schema`"),
        (saved[..saved.len() / 2].to_owned(), "is not a result of reprise"),
        (saved.replace("reprise.measure/1", "reprise.measure/2"), "unknown schema"),
        (saved.replace("reprise.measure/1", "reprise.lab/1"), "claims to be reprise.lab/1, but does not match"),
        (format!("{line}\n{line}\n"), "tail -n 1"),
    ] {
        let file = lab.file("saved.json", contents);
        Reprise::new(["report"]).arg(file).run().exits(2).says(&["saved.json", words]);
    }
    // A file of holes is as long as a result cannot be, and takes no room.
    let huge = lab.file("huge.json", "");
    fs::File::options().write(true).open(&huge).unwrap().set_len((1 << 30) + 1).unwrap();
    Reprise::new(["report"]).arg(huge).run().exits(2).says(&["too large for a result"]);
}

#[test]
fn colour_is_for_terminals_and_never_against_no_color() {
    let lab = Lab::new();
    let server = server(&lab);
    let is_coloured = |outcome: Outcome| outcome.page.contains('\x1b');
    assert!(!is_coloured(call(&lab, &server, &[]).run().exits(0)), "no terminal");
    assert!(is_coloured(call(&lab, &server, &[]).env("CLICOLOR_FORCE", "1").run().exits(0)));
    let both = call(&lab, &server, &[]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").run().exits(0);
    assert!(!is_coloured(both));
}

#[test]
fn two_outputs_to_one_file_are_refused_before_any_connection() {
    let lab = Lab::new();
    let server = server(&lab);
    let (result, detour) = (lab.path("result"), lab.path("./result"));
    for [one, other] in
        [["--json", "--csv"], ["--csv", "--markdown"], ["--session-out", "--json"], ["--session-in", "--json"]]
    {
        let arguments = [one, name(&result), other, name(&detour)];
        call(&lab, &server, &arguments).run().exits(2).says(&[one, other, "name the same file", "give each its own"]);
    }
    assert!(!result.exists());
    assert_eq!((server.completed(), server.failures().len()), (0, 0));
    call(&lab, &server, &["--json", NOTHING_KEPT, "--csv", NOTHING_KEPT]).run().exits(0);
}

/// What is written there is gone, so that nothing takes the place of anything.
const NOTHING_KEPT: &str = "/dev/null";
