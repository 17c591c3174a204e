//! Credentials that do not work: what a person reads says what to do, and holds no part of them.

use std::path::{Path, PathBuf};

use rehome_model::exit;
use rehome_testbed::control_plane::ControlPlane;
use serde_json::{Value, json};

use crate::place;
use crate::planted::MARK;
use crate::program::{self, Ran};
use crate::shown::nothing_came_out;

/// A kubeconfig with this user and, in its cluster, these fields besides.
fn kubeconfig(plane: &ControlPlane, folder: &Path, user: &Value, cluster: &Value) -> PathBuf {
    let text = fs_err::read_to_string(plane.admin_kubeconfig()).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["users"][0]["user"] = user.clone();
    for (field, value) in cluster.as_object().unwrap() {
        config["clusters"][0]["cluster"][field] = value.clone();
    }
    let path = folder.join("c.kubeconfig");
    fs_err::write(&path, config.to_string()).unwrap();
    path
}

/// An exec plugin that prints this.
fn plugin(folder: &Path, script: &str) -> Value {
    let file = folder.join("plugin.sh");
    fs_err::write(&file, script).unwrap();
    json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": [file, format!("{MARK}-argument")],
        "env": [{"name": "PLUGIN_TOKEN", "value": format!("{MARK}-environment")}], "interactiveMode": "Never",
    }})
}

/// Each way in which credentials can be wrong, and what must be said of it.
#[test]
fn credentials_that_do_not_work_are_told_apart_and_never_shown() {
    let (plane, _turn) = place::turn();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let none = json!({});
    let mut all = Vec::new();
    let mut told = |name: &str, user: Value, cluster: &Value, expected: &str| {
        let file = kubeconfig(plane, folder, &user, cluster);
        let ran = program::expect(exit::USAGE, folder, &["capture", "--kubeconfig", file.to_str().unwrap()]);
        println!("== {name}\n{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{name}: expected {expected:?}, found\n{}", ran.stderr);
        assert!(ran.stderr.contains("next: "), "{name}: {}", ran.stderr);
        all.push(ran);
    };
    told("a token that has expired", json!({"token": format!("{MARK}-t")}), &none, "does not accept the credentials");
    let basic = json!({"username": "ada", "password": format!("{MARK}-p")});
    told("a password, which no API server knows", basic, &none, "the credentials may read nothing");
    let credential = format!("echo '{{\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"{MARK}-s\"}}}}'");
    let fine = credential.replace("{\"kind\"", "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\"");
    told("a plugin's token that has expired", plugin(folder, &fine), &none, "does not accept the credentials");
    let fails = format!("echo 'cannot refresh {MARK}-e' >&2; echo '{MARK}-o'; exit 3");
    told("a plugin that fails", plugin(folder, &fails), &none, "no credentials for");
    let garbage = format!("echo '{{\"token\": {MARK}-g'");
    told("a plugin that prints no JSON", plugin(folder, &garbage), &none, "no credentials for");
    told(
        "a plugin without a credential",
        plugin(folder, &format!("echo '{{\"a\": \"{MARK}-n\"}}'")),
        &none,
        "no credentials for",
    );
    let missing = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "rehome-no-such-plugin",
        "args": [format!("{MARK}-a")], "interactiveMode": "Never",
    }});
    told("a plugin that is not there", missing, &none, "rehome-no-such-plugin");
    let keys = json!({"client-certificate-data": format!("{MARK}-c"), "client-key-data": format!("{MARK}-k")});
    told("certificates that are none", keys, &none, "kubeconfig");
    let proxy = json!({"proxy-url": format!("http://ada:{MARK}-x@127.0.0.1:1")});
    told("a proxy with a password", json!({"token": "t"}), &proxy, "127.0.0.1:1");
    let server = json!({"server": format!("https://ada:{MARK}-u@127.0.0.1:1")});
    told("an address with a password", json!({"token": "t"}), &server, "127.0.0.1:1");
    nothing_came_out(folder, &all);
}

/// A kubeconfig that cannot be read: the message shows where, never what.
#[test]
fn a_kubeconfig_that_is_broken_is_not_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut all: Vec<Ran> = Vec::new();
    for text in [
        format!("users:\n- name: a\n  user: {{token: {MARK}-1\n"),
        format!("apiVersion: v1\nusers:\n- name: a\n  user:\n    token: [{MARK}-2]\n"),
        format!("apiVersion: v1\nusers:\n- name: a\n  user:\n    token: \"{MARK}-3\n"),
        format!("apiVersion: v1\nusers: {MARK}-4\n"),
        format!("{MARK}-5"),
    ] {
        fs_err::write(folder.join("c.kubeconfig"), text).unwrap();
        let ran = program::expect(exit::USAGE, folder, &["capture", "--kubeconfig", "c.kubeconfig"]);
        assert!(ran.stderr.contains("c.kubeconfig"), "{}", ran.stderr);
        all.push(ran);
    }
    let server = format!("https://ada:{MARK}-6@127.0.0.1:1");
    all.push(program::expect(exit::USAGE, folder, &["capture", "--server", &server]));
    let mut proxied =
        program::command(folder, &["capture", "--server", "https://192.0.2.1:1", "--request-timeout", "1"]);
    proxied.env("HTTPS_PROXY", format!("http://ada:{MARK}-7@127.0.0.1:1"));
    all.push(Ran::of(&proxied.output().unwrap()));
    nothing_came_out(folder, &all);
}
