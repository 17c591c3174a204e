//! Help, usage errors, and the name under which the program is called.

use super::{Ran, run};

#[test]
fn help_says_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!("help", run(folder.path(), &["--help"]).text());
    insta::assert_snapshot!("help-plan", run(folder.path(), &["plan", "--help"]).text());
    insta::assert_snapshot!("help-execute", run(folder.path(), &["execute", "--help"]).text());
}

#[test]
fn wrong_usage_is_two_and_says_what_is_right() {
    let folder = tempfile::tempdir().unwrap();
    for (name, args) in [
        ("usage-nothing", &[][..]),
        ("usage-no-nodes", &["plan", "--snapshot", "x"]),
        ("usage-consent", &["plan", "--from", "a", "--to", "b", "--consent", "delete-everything=Pod/a/b"]),
        ("usage-unknown", &["move"]),
    ] {
        let ran = run(folder.path(), args);
        assert_eq!(ran.code, 2, "{name}");
        insta::assert_snapshot!(name, ran.text());
    }
}

#[test]
fn version_names_the_program_and_its_documents() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["version"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout, format!("rehome {}\ndocuments rehome.dev/v1alpha1\n", env!("CARGO_PKG_VERSION")));
}

#[cfg(unix)]
#[test]
fn kubectl_calls_it_by_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("kubectl-rehome");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rehome"), &plugin).unwrap();
    let ran = |args: &[&str]| Ran::of(&std::process::Command::new(&plugin).args(args).env_clear().output().unwrap());
    assert!(
        ran(&["plan", "--help"]).stdout.contains("Usage: kubectl rehome plan"),
        "{}",
        ran(&["plan", "--help"]).stdout
    );
    let error = ran(&["show", "no-such-file"]).stderr;
    assert!(error.contains("next: kubectl rehome demo"), "{error}");
}
