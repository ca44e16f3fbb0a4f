//! Where results go: files, standard output, a pipe that nobody reads, a disk that is full.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use reprise_lab::{EmbeddedResumption, EmbeddedServer};
use reprise_model::document::MeasureDocument;

use reprise_harness::{Lab, Reprise, program, wait_until};

/// A server, and calls of `measure` whose outputs are the test's own.
struct Measured {
    lab: Lab,
    server: EmbeddedServer,
    target: String,
}

impl Measured {
    fn new() -> Self {
        let lab = Lab::new();
        let server = lab.server(EmbeddedResumption::Ticket);
        let target = server.address().to_string();
        Self { lab, server, target }
    }

    fn call(&self, arguments: &[&str]) -> Reprise {
        Reprise::new(["measure", &self.target, "--count", "2", "--ca"]).arg(self.lab.ca()).args(arguments)
    }

    #[track_caller]
    fn assert_not_asked(&self) {
        assert_eq!((self.server.completed(), self.server.failures().len()), (0, 0), "nobody connected");
    }
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[track_caller]
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_closed_pipe_ends_in_silence() {
    let measured = Measured::new();
    for arguments in [&[][..], &["--json", "-"], &["--csv", "-"], &["--markdown", "-"], &["--html", "-"]] {
        measured.call(arguments).run_into_closed_pipe().exits(0).silently();
    }
    measured.call(&[]).keeping_its_document().run_into_closed_pipe().exits(0).silently().document();
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

/// Where every write fails, but for one of no bytes.
const FULL_DEVICE: &str = "/dev/full";

#[test]
fn an_unwritable_output_is_reported_before_any_connection() {
    let measured = Measured::new();
    let absent = measured.lab.path("no/such/directory");
    let no_directory = format!("there is no directory {}: create it first", absent.display());
    let result = absent.join("result");
    let directory = name(measured.lab.directory());
    let mut places = vec![(name(&result), &*no_directory), (directory, "it is a directory: name a file in it")];
    if cfg!(target_os = "linux") {
        places.push(("/proc/result", "no file can be created in /proc"));
        places.push((FULL_DEVICE, "No space left on device"));
    }
    for (place, why) in places {
        let says = |call: Reprise| drop(call.run().exits(2).says(&["cannot write", place, why]));
        for (command, flags) in COMMANDS {
            for flag in flags.iter().filter(|flag| (**flag, place) != ("--session-out", FULL_DEVICE)) {
                says(Reprise::new([command, &measured.target, flag, place]));
            }
        }
        for command in WITHOUT_TARGET {
            says(Reprise::without_plugins(command).args(["--json", place]));
        }
    }
    #[cfg(target_os = "linux")]
    {
        let full = fs::File::options().write(true).open(FULL_DEVICE).unwrap();
        let ended = Command::new(program()).args(["measure", &measured.target, "-k"]).stdout(full).output().unwrap();
        assert_eq!(ended.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&ended.stderr).contains("cannot write standard output"));
    }
    measured.assert_not_asked();
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
            assert_eq!(read(&old), "mine", "{command} {flag}");
            // An empty file holds no result to keep. The new document says why nothing was measured.
            if *flag == "--json" && command != "load" {
                let empty = lab.file("empty", "");
                call(&empty);
                assert!(read(&empty).contains("connection_refused"), "{command}");
            }
        }
    }
    let old = lab.file("old", "mine");
    let arguments = format!("layers {gone} --levels ssl --stacks rustls-aws-lc -n 1 --json");
    Reprise::without_plugins(&arguments).arg(&old).run().exits(1).says(&["keeps its earlier content"]);
    assert_eq!(read(&old), "mine");
    let mut left = fs::read_dir(lab.directory()).unwrap().map(|it| it.unwrap().path());
    assert!(left.all(|path| path.extension().is_none_or(|it| it != "part")));
}

#[test]
fn an_interrupted_result_stands_beside_the_earlier_one() {
    for command in ["measure --count 1000000", "load --duration 1h --rate 100", "diagnose --fill 100000 --max-time 1h"] {
        let Measured { lab, server, target } = Measured::new();
        let old = lab.file("old", "mine");
        let running = Reprise::line(command).arg(target).arg("--insecure").arg("--json").arg(&old).start();
        wait_until("some connections", || server.completed() > 40);
        assert_eq!(read(&old), "mine", "{command}");
        running.interrupt();
        running.finish().exits(130).shows(&["Incomplete"]).says(&["keeps its earlier content", "old.partial"]);
        assert_eq!(read(&old), "mine", "{command}");
        let document: serde_json::Value = serde_json::from_str(&read(&lab.path("old.partial"))).unwrap();
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
        (&["trace", nowhere, "--cert", gone], COMMANDS[1].1),
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
            assert_eq!(read(&old), "mine", "{command:?} {flag}");
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
    let measured = Measured::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let json = measured.lab.path("result.json");
    let mut command = Command::new(program());
    command.args(["measure", &measured.target, "--insecure", "--count", "2", "--json", name(&json)]);
    let status = command.stdout(Stdio::null()).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(0), "--insecure is warned of on standard error");
    serde_json::from_str::<MeasureDocument>(&read(&json)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_full_disk_costs_neither_page_nor_earlier_result() {
    let Measured { lab, server: _server, target } = Measured::new();
    let (old, new) = (lab.file("old", "mine"), lab.path("new"));
    let before = fs::read_dir(lab.directory()).unwrap().count();
    let call = |csv| {
        let arguments = ["measure", &target, "--count", "2", "--insecure", "--json", name(&old), "--csv", csv];
        Reprise::on_a_full_disk(arguments).run().exits(2)
    };
    let full = format!("cannot write {} (its earlier content is still there): File too large", old.display());
    call(name(&new)).says(&[&full]).shows(&["TLS 1.3", "Medians"]);
    assert_eq!(read(&old), "mine");
    assert_eq!(fs::read_dir(lab.directory()).unwrap().count(), before, "nothing stays behind");
    assert!(call("-").page.lines().count() > 1, "one output that fails takes no other along");
}

#[test]
fn a_document_on_standard_output_stands_there_alone() {
    let measured = Measured::new();
    let printed = |arguments: &[&str]| measured.call(arguments).run().exits(0).silently();
    for place in ["-"].into_iter().chain(cfg!(unix).then_some("/dev/stdout")) {
        let page = printed(&["--json", place]).page;
        let document: MeasureDocument = serde_json::from_str(&page).unwrap();
        assert!(document.schema == "reprise.measure/1" && page.ends_with("}\n"), "{place}");
    }
    let csv = printed(&["--csv", "-"]).page;
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.len() > 4 && columns.iter().all(|&count| count == columns[0]), "{csv}");
    printed(&["--markdown", "-"]).shows(&["| TLS | kind |"]);
    let html = printed(&["--html", "-"]).page;
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"), "{html}");
}

#[test]
fn a_result_on_standard_input_is_shown_and_compared_with() {
    let measured = Measured::new();
    let json = measured.lab.path("result.json");
    measured.call(&["--json", name(&json)]).run().exits(0);
    Reprise::new(["report", "-"]).reading(&json).run().exits(0).silently().shows(&["TLS 1.3", "Medians"]);
    let compared = measured.call(&["--baseline", "-"]).keeping_its_document().reading(&json).run().exits(0);
    assert!(compared.document().baseline.is_some());
    let none = measured.lab.file("none.json", "[]");
    let refused = Reprise::new(["report", "-"]).reading(&none).run().exits(2);
    refused.says(&["standard input is not a result of reprise", "an object with the field `schema`"]);
}

#[test]
fn conditions_of_the_lab_are_reported_as_junit() {
    let lab = Lab::new();
    let json = lab.path("lab.json");
    Reprise::new(["measure", "--count", "1", "--fail-if", "failed > 0", "--json", name(&json)]).run().exits(0);
    Reprise::new(["report", name(&json), "--junit", "-"]).run().exits(0).shows(&["failed &gt; 0", "failures=\"0\""]);
}

#[test]
fn a_saved_result_is_written_again_to_the_byte() {
    let measured = Measured::new();
    let [json, csv, markdown] = ["result.json", "result.csv", "result.md"].map(|file| measured.lab.path(file));
    // A result replaces what was there to its last byte.
    measured.lab.file("result.json", "x".repeat(1_000_000));
    let arguments = ["--json", name(&json), "--csv", name(&csv), "--markdown", name(&markdown)];
    let page = measured.call(&arguments).run().exits(0).shows(&["Medians"]).page;
    let report = |arguments: &[&str]| Reprise::new(["report"]).arg(&json).args(arguments).run().exits(0).silently().page;
    assert_eq!(report(&[]), page);
    for (flag, path) in [("--json", &json), ("--csv", &csv), ("--markdown", &markdown)] {
        assert_eq!(report(&[flag, "-"]), read(path), "{flag}");
    }
}

#[test]
fn what_is_no_saved_result_is_refused_in_words() {
    let measured = Measured::new();
    let saved = measured.call(&["--json", "-"]).run().exits(0).page;
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
        let file = measured.lab.file("saved.json", contents);
        Reprise::new(["report"]).arg(file).run().exits(2).says(&["saved.json", words]);
    }
    // A file of holes is as long as a result cannot be, and takes no room.
    let huge = measured.lab.file("huge.json", "");
    fs::File::options().write(true).open(&huge).unwrap().set_len((1 << 30) + 1).unwrap();
    Reprise::new(["report"]).arg(huge).run().exits(2).says(&["too large for a result"]);
}

#[test]
fn two_outputs_to_one_place_are_refused_before_any_connection() {
    let measured = Measured::new();
    let (result, detour) = (measured.lab.path("result"), measured.lab.path("./result"));
    for [one, other] in [
        ["--json", "--csv"],
        ["--csv", "--markdown"],
        ["--html", "--har"],
        ["--session-out", "--json"],
        ["--session-in", "--json"],
    ] {
        let call = measured.call(&[one, name(&result), other, name(&detour)]);
        call.run().exits(2).says(&[one, other, "name the same file", "give each its own"]);
    }
    let printed = measured.call(&["--json", "-", "--csv", "-"]).run().exits(2);
    printed.says(&["only one of --json and --csv can go to standard output"]);
    assert!(!result.exists());
    measured.assert_not_asked();
    // What is written there is gone, so that nothing takes the place of anything.
    measured.call(&["--json", "/dev/null", "--csv", "/dev/null"]).run().exits(0);
}
