//! `rehome size` on files.

use super::{case, run};

const LARGE: &str = "name=a4-ram16-disk50,cpu=4,memory=16Gi";

#[test]
fn the_demo_s_target_is_three_nodes_and_the_rule_that_binds_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = case("demo").join("cluster").display().to_string();
    let args = ["size", "--from", "pool=old", "--to", "pool=new", "--snapshot", &cluster, "--flavor", LARGE];
    let ran = run(folder.path(), &[&args[..], &["--svg", "nodes.svg", "--out", "sizing.json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    insta::assert_snapshot!("size-demo", ran.text());
    let sizing: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("sizing.json")).unwrap()).unwrap();
    let answer = &sizing["flavors"][0]["answer"];
    assert_eq!((answer["nodes"].as_u64(), answer["binds"].as_str()), (Some(3), Some("floor")));
    let svg = std::fs::read_to_string(folder.path().join("nodes.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("a4-ram16-disk50"), "{svg}");
    let wide = run(folder.path(), &["show", "sizing.json", "-o", "wide"]);
    insta::assert_snapshot!("size-demo-wide", wide.stdout);
    let again = run(folder.path(), &[&args[..], &["-o", "json"]].concat());
    assert_eq!(again.stdout, std::fs::read_to_string(folder.path().join("sizing.json")).unwrap());
}

#[test]
fn flavors_of_a_catalogue_are_compared_and_the_cheapest_is_best() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = case("demo").join("cluster").display().to_string();
    std::fs::write(
        folder.path().join("flavors.yaml"),
        "apiVersion: rehome.dev/v1alpha1\nkind: Catalogue\ncurrency: EUR/month\nflavors:\n\
         - {name: a2-ram4-disk50, cpu: 2, memory: 4Gi, price: 12}\n\
         - {name: a4-ram16-disk50, cpu: 4, memory: 16Gi, price: 30.5}\n\
         - {name: a8-ram32-disk50, cpu: 8, memory: 32Gi, price: 61}\n",
    )
    .unwrap();
    let ran = run(folder.path(), &["size", "--catalogue", "flavors.yaml", "--snapshot", &cluster]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    insta::assert_snapshot!("size-catalogue", ran.text());
}

#[test]
fn what_can_not_be_sized_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = case("demo").join("cluster").display().to_string();
    for (name, args) in [
        ("size-no-memory", &["--flavor", "cpu=4"][..]),
        ("size-provider", &["--flavor", "cpu=4,memory=16Gi,provider=nobody"]),
        ("size-prometheus", &["--flavor", LARGE, "--prometheus", "http://127.0.0.1:9/"]),
        ("size-window", &["--flavor", LARGE, "--prometheus", "http://127.0.0.1:9/", "--window", "a week"]),
    ] {
        let ran = run(folder.path(), &[&["size", "--snapshot", &cluster][..], args].concat());
        assert_eq!(ran.code, 2, "{name}: {}", ran.text());
        insta::assert_snapshot!(name, ran.text());
    }
}
