//! Snapshots from files of our own: forms that kubectl writes, and each way in which a file can be wrong.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use rehome_k8s::Kind;
use rehome_run::read::{self, Fault, Loaded, Note, ReadError};

const NODE: &str = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","resourceVersion":"7","creationTimestamp":"2026-11-30T08:00:00Z"}}"#;

fn text(text: &str) -> Result<Loaded, ReadError> {
    read::bytes(Path::new("in"), text.as_bytes())
}

fn refused(source: &str) -> ReadError {
    text(source).unwrap_err()
}

#[test]
fn one_object_a_list_a_stream_and_documents_are_the_same() {
    let yaml = "# nodes\n---\napiVersion: v1\nkind: Node\nmetadata: {name: a, resourceVersion: \"7\", creationTimestamp: \"2026-11-30T08:00:00Z\"}\n---\n";
    let list = format!(r#"{{"kind":"List","apiVersion":"v1","items":[{NODE}]}}"#);
    let digest = text(NODE).unwrap().digest;
    assert_eq!(text(yaml).unwrap().digest, digest);
    assert_eq!(text(&list).unwrap().digest, digest);
    assert_eq!(text(&format!("{NODE}\n{NODE}")).unwrap().digest, digest, "twice the same object is one");
    assert_eq!(text(&format!("\u{feff}{NODE}")).unwrap().digest, digest, "with a byte order mark");
}

#[test]
fn a_typed_list_lends_its_kind_to_items_and_says_that_there_are_none() {
    let loaded = text(r#"{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}"#).unwrap();
    assert_eq!(loaded.view.nodes().count(), 1);
    let loaded = text(r#"{"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","items":null}"#).unwrap();
    assert!(loaded.view.gap(Kind::PodDisruptionBudget).is_none(), "none, and known to be none");
    assert!(loaded.view.gap(Kind::Pod).is_some());
}

#[test]
fn of_two_versions_the_newer_is_taken_and_said() {
    let newer = NODE.replace("\"7\"", "\"10\"");
    for both in [format!("{NODE}\n{newer}"), format!("{newer}\n{NODE}")] {
        let loaded = text(&both).unwrap();
        assert_eq!(loaded.view.node("a").unwrap().meta.resource_version, "10");
        assert!(matches!(&loaded.notes[..], [Note::Duplicate { kept, dropped, .. }] if kept == "10" && dropped == "7"));
    }
}

#[test]
fn a_directory_is_read_by_name_and_the_cluster_is_known_by_kube_system() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(directory.path().join("nodes.json"), NODE).unwrap();
    std::fs::write(directory.path().join("notes.txt"), "not read").unwrap();
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, uid: u-1}\n";
    std::fs::write(inner.join("namespaces.yml"), namespace).unwrap();
    let loaded = read::path(directory.path()).unwrap();
    assert_eq!(loaded.snapshot.objects.len(), 2);
    assert_eq!(loaded.snapshot.cluster.uid.unwrap().0, "u-1");
    assert_eq!(loaded.snapshot.taken.to_string(), "2026-11-30T08:00:00.000Z");
}

#[test]
fn secrets_are_left_out_and_said() {
    let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"password":"c2VjcmV0"}}"#;
    let loaded = text(&format!("{NODE}\n{secret}")).unwrap();
    assert!(!serde_json::to_string(&loaded.snapshot).unwrap().contains("c2VjcmV0"));
    assert_eq!(loaded.notes, [Note::LeftOut { kind: "v1 Secret".to_owned(), count: 1 }]);
}

#[test]
fn a_written_snapshot_is_read_again_with_its_digest() {
    let first = text(NODE).unwrap();
    let written = rehome_model::document::to_pretty(&first.snapshot).unwrap();
    assert_eq!(text(&written).unwrap().digest, first.digest);
    assert!(matches!(*refused(&format!("{written}\n{NODE}")).fault, Fault::SnapshotAmongObjects));
}

#[test]
fn a_file_cut_in_half_is_said_to_be_cut_and_where() {
    let error = refused(&NODE[..NODE.len() / 2]);
    assert!(matches!(*error.fault, Fault::Cut { .. }), "{}", error.fault);
    assert_eq!(error.at.unwrap().line, 1);
    let error = refused("apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n");
    assert!(matches!(*error.fault, Fault::Cut { .. }), "{}", error.fault);
    let error = refused("apiVersion: v1\nkind: Node\nmetadata: {name: \"a\n");
    assert!(matches!(*error.fault, Fault::Cut { .. } | Fault::Syntax { .. }), "{}", error.fault);
}

#[test]
fn what_is_no_kubernetes_object_is_named_with_its_line() {
    let error = refused("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\nversion: v1alpha1\nmachine: {}\n");
    assert_eq!(error.at.unwrap().line, 4);
    assert!(error.fault.to_string().contains("found an object with machine, version"), "{}", error.fault);
    assert!(matches!(*refused("[1, 2]").fault, Fault::NotAnObject { .. }));
    assert!(matches!(*refused("just words").fault, Fault::NotAnObject { .. }));
    assert!(matches!(*refused(r#"{"apiVersion":"v1","kind":"Node","metadata":{}}"#).fault, Fault::NotAnObject { .. }));
}

#[test]
fn a_version_that_is_not_known_is_refused_by_name() {
    let error = refused(r#"{"apiVersion":"apps/v9","kind":"Deployment","metadata":{"name":"web"}}"#);
    assert_eq!(error.fault.to_string(), r#"Deployment "web": expected apiVersion apps/v1, found apps/v9"#);
}

#[test]
fn a_yaml_error_is_placed_in_the_file_and_not_in_its_document() {
    let error = refused("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\nkind: Node\n\tbad: indent\n");
    assert_eq!(error.at.unwrap().line, 5, "{}", error.fault);
}

#[test]
fn a_text_that_grows_beyond_measure_is_stopped() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let previous = level - 1;
        let aliases = vec![format!("*a{previous}"); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert!(matches!(*refused(&bomb).fault, Fault::Limit { .. }), "{}", refused(&bomb).fault);
    let deep = format!("a: {}", "[".repeat(5000));
    assert!(matches!(*refused(&deep).fault, Fault::Limit { .. } | Fault::Syntax { .. }), "{}", refused(&deep).fault);
    assert!(matches!(*refused(&"[".repeat(100_000)).fault, Fault::Syntax { .. } | Fault::Cut { .. }));
}

#[test]
fn what_is_not_there_not_text_or_empty_is_said() {
    assert!(matches!(*read::path(&PathBuf::from("no/such/file")).unwrap_err().fault, Fault::NotFound));
    let error = read::bytes(Path::new("in"), b"{\n\xff").unwrap_err();
    assert!(matches!(*error.fault, Fault::NotUtf8 { byte: 2 }));
    assert_eq!(error.at.unwrap().line, 2);
    assert!(matches!(*refused(" \n").fault, Fault::EmptyFile));
    assert!(matches!(*refused("---\n# nothing\n---\n").fault, Fault::EmptyFile));
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(*read::path(directory.path()).unwrap_err().fault, Fault::EmptyDirectory));
}

#[test]
fn a_file_and_its_parts_in_any_order_of_keys_are_the_same_cluster() {
    let usual = r#"{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x"},"spec":{"nodeName":"n"}},
        {"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"images":[{"names":["i"]}],"phase":"p"}}],"kind":"List"}"#;
    let odd = r#"{"kind":"List","items":[{"spec":{"nodeName":"n"},"metadata":{"namespace":"x","name":"a"},"kind":"Pod","apiVersion":"v1"},
        {"status":{"phase":"p","images":[]},"metadata":{"name":"n"},"kind":"Node","apiVersion":"v1"}],"apiVersion":"v1"}"#;
    let (usual, odd) = (text(usual).unwrap(), text(odd).unwrap());
    assert_eq!(usual.digest, odd.digest);
    assert_eq!(usual.digest, usual.snapshot.digest().unwrap(), "the texts are canonical");
    assert!(!serde_json::to_string(&usual.snapshot.objects).unwrap().contains("images"));
}

#[test]
fn items_that_say_less_are_filled_in_and_those_that_say_too_much_are_refused() {
    let short = r#"{"items":[{"metadata":{"name":"a"}}],"kind":"PodList","apiVersion":"v1"}"#;
    let loaded = text(short).unwrap();
    assert_eq!(
        loaded.snapshot.objects[0].get(),
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"}}"#
    );
    assert_eq!(loaded.digest, loaded.snapshot.digest().unwrap());
    for twice in [r#""kind":"Pod","kind":"Pod""#, r#""kind":"Pod","kind":"Node""#] {
        let list = format!(
            r#"{{"kind":"List","apiVersion":"v1","items":[{{"apiVersion":"v1",{twice},"metadata":{{"name":"a","namespace":"x"}}}}]}}"#
        );
        assert!(matches!(*refused(&list).fault, Fault::NotAnObject { .. }), "{twice}");
    }
    // Of a name that is there twice the last counts, as in a tree of values.
    let names = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"metadata":{"name":"b"}}"#;
    assert!(text(names).unwrap().view.node("b").is_some());
}

#[test]
fn an_item_that_is_wrong_is_placed_by_its_own_line() {
    let list = format!("{{\"kind\":\"List\",\"apiVersion\":\"v1\",\n\"items\":[\n{NODE},\n{{\"spec\":7}},\n5]}}");
    assert_eq!(refused(&list).at.unwrap().line, 4);
    for item in ["5", "[]", "null", "\"text\"", "{}", r#"{"apiVersion":"v1","kind":7}"#] {
        let error = refused(&format!("{{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{NODE},\n{item}]}}"));
        assert!(matches!(*error.fault, Fault::NotAnObject { .. }), "{item}: {}", error.fault);
        assert_eq!(error.at.unwrap().line, 2, "{item}");
    }
    let error = refused(&format!("{NODE}\n{NODE}\n {{\"kind\":\"List\",,}}"));
    assert_eq!(error.at.unwrap(), rehome_run::read::Position { line: 3, column: 17 }, "{}", error.fault);
}

#[test]
fn a_list_cut_anywhere_is_refused_and_one_nested_without_end_too() {
    let list = format!(r#"{{"apiVersion":"v1","items":[{NODE},{NODE}],"kind":"List"}}"#);
    for end in 1..list.len() {
        let error = refused(&list[..end]);
        assert!(matches!(*error.fault, Fault::Cut { .. }), "{end}: {}", error.fault);
    }
    let deep = |depth: usize| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"a"}},"extra":{}{}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    assert!(text(&deep(50)).is_ok());
    assert!(matches!(*refused(&deep(5_000)).fault, Fault::NotAnObject { .. }));
    let nested =
        (0..8).fold(NODE.to_owned(), |inner, _| format!(r#"{{"apiVersion":"v1","kind":"List","items":[{inner}]}}"#));
    assert!(matches!(*refused(&nested).fault, Fault::Limit { .. }));
}
