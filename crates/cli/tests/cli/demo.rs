//! The demo: ends well, says the same each time, and touches only its own folder.

use super::run;

#[test]
fn the_demo_reads_well_and_is_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = run(folder.path(), &["demo"]);
    assert_eq!((first.code, first.stderr.as_str()), (0, ""));
    let documents = contents(folder.path());
    let second = run(folder.path(), &["demo"]);
    assert_eq!(second.stdout, first.stdout);
    assert_eq!(contents(folder.path()), documents);
    insta::assert_snapshot!("demo", first.stdout);
}

fn contents(folder: &std::path::Path) -> Vec<(std::path::PathBuf, String)> {
    let mut files: Vec<_> = std::fs::read_dir(folder.join("rehome-demo"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_folder_that_is_not_the_demos_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("rehome-demo");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("thesis.txt"), "years of work").unwrap();
    let ran = run(folder.path(), &["demo"]);
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!("demo-foreign-folder", ran.text());
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
}
