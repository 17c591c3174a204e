//! `rehome rbac`: the printed roles, and the file in `deploy/`, which is what it prints.

use std::path::PathBuf;

use super::{after_demo, run};

#[test]
fn the_file_in_deploy_is_what_the_program_prints() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["rbac"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy/rbac.yaml");
    let written = std::fs::read_to_string(file).unwrap();
    assert_eq!(ran.stdout, written, "mend: cargo run --release -p rehome -- rbac > deploy/rbac.yaml");
}

#[test]
fn roles_are_for_looking_for_any_plan_or_for_this_one_and_for_somebody() {
    let folder = after_demo();
    let plan = ["rbac", "--plan", "rehome-demo/plan.json", "--to-serviceaccount", "tools:rehome", "-o", "name"];
    let ran = run(folder.path(), &plan);
    insta::assert_snapshot!("rbac-of-a-plan", ran.text());
    let names = |args: &[&str]| run(folder.path(), &[&["rbac", "-o", "name"], args].concat()).stdout;
    assert_eq!(names(&["--capture-only"]), "ClusterRole rehome-reader\n");
    let journal = "Namespace rehome-system\nClusterRole rehome-mover\n";
    assert_eq!(names(&["--run"]), format!("{journal}Role rehome-system/rehome-mover\n"));
    let bound = format!(
        "{journal}ClusterRoleBinding rehome-mover\nRole rehome-system/rehome-mover\nRoleBinding \
         rehome-system/rehome-mover\n"
    );
    assert_eq!(names(&["--run", "--to-group", "sre"]), bound);
    let reader = run(folder.path(), &["rbac", "--capture-only"]).stdout;
    for verb in ["create", "update", "patch", "delete", "watch"] {
        assert!(!reader.lines().any(|line| line.trim() == format!("- {verb}")), "looking needs no {verb}");
    }
    for wrong in
        [&["--to-serviceaccount", "rehome"][..], &["--capture-only", "--run"], &["--to-user", "a", "--to-group", "b"]]
    {
        assert_eq!(run(folder.path(), &[&["rbac"], wrong].concat()).code, 2);
    }
}
