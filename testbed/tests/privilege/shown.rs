//! None of the planted secrets may come out of the program again: not in a document, a journal, a table, a message or an
//! error.

use std::path::Path;

use rehome_model::exit;
use serde_json::{Value, json};

use crate::place::Place;
use crate::planted::MARK;
use crate::program;

/// The beginning of base64 of data that begins with [`MARK`]: as the API server shows it.
const MARK_BASE64: &str = "cExhTnRFZ";

/// Every file of a folder, and what was printed, holds no planted secret.
pub(crate) fn nothing_came_out(folder: &Path, printed: &[program::Ran]) {
    let complain = |place: String, text: &str| {
        let found = text.find(MARK).or_else(|| text.find(MARK_BASE64));
        found.map(|at| {
            let from = (0..=at.saturating_sub(60)).rev().find(|&from| text.is_char_boundary(from)).unwrap_or(0);
            format!("{place}: …{}", text[from..].chars().take(140).collect::<String>())
        })
    };
    let mut found = Vec::new();
    let mut files = 0;
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // What the test itself wrote.
        if path.extension().is_some_and(|extension| extension == "kubeconfig" || extension == "sh") {
            continue;
        }
        let bytes = fs_err::read(&path).unwrap();
        files += 1;
        found.extend(complain(path.display().to_string(), &String::from_utf8_lossy(&bytes)));
    }
    for (index, ran) in printed.iter().enumerate() {
        found.extend(complain(format!("stdout of run {index}"), &ran.stdout));
        found.extend(complain(format!("stderr of run {index}"), &ran.stderr));
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(files > 0 || !printed.is_empty(), "nothing was searched");
}

#[test]
fn no_planted_secret_comes_out_of_the_whole_job() {
    let place = Place::new("planted");
    let (from, to, consent) = (place.pool("old"), place.pool("new"), place.consent());
    let kubeconfig = place.user("planted-mover", &[]);
    // The mover's certificate and key are files beside the kubeconfig; a token is in the kubeconfig itself.
    let kubeconfig = with_extra_users(&place, &kubeconfig);
    let kubeconfig = kubeconfig.to_str().unwrap();
    let wish = ["--from", &from, "--to", &to];
    let mut ran = Vec::new();
    let mut run = |code: u8, arguments: &[&str]| ran.push(place.expect(code, arguments));
    run(exit::DONE, &["capture", "--kubeconfig", kubeconfig, "--out", "before.json"]);
    for output in ["table", "wide", "json", "yaml", "name"] {
        run(exit::DONE, &["capture", "--kubeconfig", kubeconfig, "-o", output]);
        run(exit::DONE, &["show", "before.json", "-o", output]);
        run(exit::BLOCKED, &[&["check", "--snapshot", "before.json", "-o", output][..], &wish].concat());
        run(exit::BLOCKED, &[&["plan", "--kubeconfig", kubeconfig, "-o", output][..], &wish].concat());
    }
    let plan =
        [&["plan", "--snapshot", "before.json", "--consent", &consent, "--out", "plan.json"][..], &wish].concat();
    run(exit::DONE, &plan);
    run(exit::CHANGES_PENDING, &[&plan[..], &["--detailed-exitcode", "-o", "json"]].concat());
    let rehearse = ["rehearse", "--plan", "plan.json", "--snapshot", "before.json", "--out", "rehearsal.json"];
    run(exit::DONE, &rehearse);
    run(exit::DONE, &["approve", "--plan", "plan.json", "--by", "tester", "--out", "approval.json"]);
    let execute = ["execute", "--kubeconfig", kubeconfig, "--plan", "plan.json", "--approval", "approval.json"];
    run(exit::DONE, &[&execute[..], &["-o", "wide"]].concat());
    run(exit::DONE, &["status", "--journal", "plan.journal.jsonl", "-o", "wide"]);
    run(exit::DONE, &["capture", "--kubeconfig", kubeconfig, "--out", "after.json"]);
    let verify = ["verify", "--plan", "plan.json", "--before", "before.json", "--after", "after.json"];
    run(exit::DONE, &[&verify[..], &["-o", "wide", "--out", "verification.json"]].concat());
    for file in ["plan.json", "rehearsal.json", "plan.journal.jsonl", "verification.json", "approval.json"] {
        run(exit::DONE, &["show", file, "-o", "wide"]);
    }
    run(exit::DONE, &["rbac", "--plan", "plan.json"]);
    // Before the move, nothing is where it should be.
    let early = ["verify", "--plan", "plan.json", "--before", "before.json", "--after", "before.json"];
    run(exit::VERIFICATION_FAILED, &early);
    nothing_came_out(place.folder(), &ran);
    assert!(fs_err::read_to_string(place.folder().join("before.json")).unwrap().contains("example.test/app:1"));
}

/// The same kubeconfig with users that have secrets in them.
fn with_extra_users(place: &Place, kubeconfig: &Path) -> std::path::PathBuf {
    let text = fs_err::read_to_string(kubeconfig).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    let users = config["users"].as_array_mut().unwrap();
    users.push(json!({"name": "token", "user": {"token": format!("{MARK}-token")}}));
    users.push(json!({"name": "basic", "user": {"username": "u", "password": format!("{MARK}-password")}}));
    let path = place.folder().join("planted.kubeconfig");
    fs_err::write(&path, config.to_string()).unwrap();
    path
}
