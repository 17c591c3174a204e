//! The program on a terminal: what a person at it reads and types.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use rehome_model::exit;
use rehome_testbed::clock;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::place::{LIMIT, Place};
use crate::{program, signals};

/// A program on a terminal of its own, 100 columns wide.
struct Terminal {
    child: Child,
    keys: File,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Terminal {
    fn run(place: &Place, arguments: &[&str]) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs =
            || rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut command = program::command(place.folder(), arguments);
        command.env("TERM", "xterm-256color").stdin(theirs()).stdout(theirs()).stderr(theirs());
        let child = command.spawn().unwrap();
        // The command holds the program's side of the terminal, which must be closed for our side to end with it.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        drop(command);
        Self::follow(child, ours)
    }

    fn follow(child: Child, ours: OwnedFd) -> Self {
        let keys = File::from(ours);
        let mut screen = keys.try_clone().unwrap();
        let shown = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&shown);
        let reader = std::thread::spawn(move || {
            let mut some = [0; 4096];
            // A terminal whose other side is closed gives EIO.
            while let Ok(count @ 1..) = screen.read(&mut some) {
                into.lock().unwrap().extend_from_slice(&some[..count]);
            }
        });
        Self { child, keys, shown, reader: Some(reader) }
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    fn wait_for(&self, text: &str) {
        clock::wait_for(text, LIMIT, || {
            let shown = self.shown();
            if shown.contains(text) { Ok(()) } else { Err(shown) }
        })
        .unwrap();
    }

    fn type_line(&mut self, line: &str) {
        writeln!(self.keys, "{line}").unwrap();
    }

    /// The exit code, and all that was shown.
    fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
        let shown = self.shown();
        println!("{shown}");
        (status.code(), shown)
    }
}

/// What remains to be read when colours and cursor movements are gone: a line that was drawn again counts once.
fn read(shown: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut chars = shown.chars().peekable();
    while let Some(char) = chars.next() {
        if char == '\u{1b}' {
            for next in chars.by_ref() {
                if next.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            plain.push(char);
        }
    }
    let lines = plain.split('\n').map(|line| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default());
    lines.map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn a_person_types_the_name_of_the_cluster_and_reads_what_happens() {
    let place = Place::new("terminal");
    let admin = place.plane.admin_kubeconfig();
    place.prepare(admin);
    let file = admin.to_str().unwrap();
    let execute = ["execute", "--kubeconfig", file, "--plan", "plan.json"];

    let mut terminal = Terminal::run(&place, &execute);
    terminal.wait_for("Type the name of the cluster to go on (");
    terminal.type_line("production");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(i32::from(exit::USAGE)), "{shown}");
    assert!(shown.contains("expected \"testbed\", found \"production\"; nothing was changed"), "{shown}");
    assert_eq!(place.journal(), "");

    // At the prompt there is nothing to bring to an end.
    let terminal = Terminal::run(&place, &execute);
    terminal.wait_for("Type the name of the cluster to go on (");
    signals::signal(&terminal.child, Signal::INT);
    let (code, shown) = terminal.end();
    assert_eq!(code, None, "ended by the signal: {shown}");
    assert_eq!(place.journal(), "");

    let mut terminal = Terminal::run(&place, &execute);
    terminal.wait_for("Type the name of the cluster to go on (");
    for text in ["context   testbed", "server    https://127.0.0.1:", "cluster   testbed (uid ", "plan      "] {
        assert!(terminal.shown().contains(text), "{text:?} stands above the prompt");
    }
    terminal.type_line("testbed");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(i32::from(exit::DONE)), "{shown}");
    assert!(place.moved());
    let lines = read(&shown);
    println!("{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("✓ done: all steps are carried out")), "{lines:#?}");
    assert!(lines.last().unwrap().starts_with("next: rehome verify --plan "), "{lines:#?}");
    let wide: Vec<&String> = lines.iter().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty(), "as wide as the terminal: {wide:#?}");
}
