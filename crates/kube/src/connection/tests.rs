//! How a first contact fails: one test for each way, with a server on loopback or none.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use serde_json::json;

use super::*;

fn kubeconfig(folder: &Path, name: &str, server: &str) -> PathBuf {
    let content = json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server}}],
        "users": [{"name": name, "user": {"token": "expired"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    });
    let path = folder.join(format!("{name}.kubeconfig"));
    std::fs::write(&path, content.to_string()).unwrap();
    path
}

fn open(flags: &ConnectionFlags) -> Result<Connection, ConnectionError> {
    Connection::open(flags, "rehome/test")
}

/// Answers every connection with these bytes.
fn answering(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(bytes);
        }
    });
    format!("127.0.0.1:{}", address.port())
}

#[test]
fn no_kubeconfig_says_where_it_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let error = open(&ConnectionFlags { kubeconfig: Some(path.clone()), ..Default::default() }).unwrap_err();
    assert!(matches!(&error, ConnectionError::NoKubeconfig { looked } if *looked == [path.clone()]), "{error}");
    let error = open(&ConnectionFlags { kubeconfig_default: Some(path), ..Default::default() }).unwrap_err();
    assert!(matches!(error, ConnectionError::NoKubeconfig { .. }), "{error}");
    assert!(error.next_command().contains("--kubeconfig"));
}

#[test]
fn a_file_that_is_no_kubeconfig_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    for text in ["contexts: 5", "a: [", "\u{0}"] {
        std::fs::write(&path, text).unwrap();
        let error = open(&ConnectionFlags { kubeconfig: Some(path.clone()), ..Default::default() }).unwrap_err();
        assert!(matches!(&error, ConnectionError::BadKubeconfig { path, .. } if path.ends_with("config")), "{error}");
    }
    std::fs::write(&path, "").unwrap();
    let error = open(&ConnectionFlags { kubeconfig: Some(path), ..Default::default() }).unwrap_err();
    assert!(matches!(error, ConnectionError::UnknownName { .. }), "{error}");
}

#[test]
fn an_unknown_context_is_told_which_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let list = vec![
        folder.path().join("missing"),
        kubeconfig(folder.path(), "a", "http://127.0.0.1:1"),
        kubeconfig(folder.path(), "b", "http://127.0.0.1:1"),
    ];
    let context = Some("c".to_owned());
    let flags = ConnectionFlags { kubeconfig_list: list.clone(), context, ..Default::default() };
    let error = open(&flags).unwrap_err();
    assert_eq!(error.to_string(), "expected a context of the kubeconfig (a, b), found \"c\"");
    let cluster = Some("c".to_owned());
    let error = open(&ConnectionFlags { kubeconfig_list: list, cluster, ..Default::default() }).unwrap_err();
    assert_eq!(error.to_string(), "expected a cluster of the kubeconfig (a, b), found \"c\"");
}

#[test]
fn a_server_that_is_not_there_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let path = kubeconfig(folder.path(), "a", &format!("http://{free}"));
    let error = open(&ConnectionFlags { kubeconfig: Some(path), ..Default::default() }).unwrap_err();
    assert!(matches!(&error, ConnectionError::Unreachable { message, .. } if message.contains("refused")), "{error}");
}

#[test]
fn a_server_that_answers_something_else_is_no_api_server() {
    let page = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
    let server = Some(format!("http://{}", answering(page)));
    let error = open(&ConnectionFlags { server, ..Default::default() }).unwrap_err();
    assert!(matches!(&error, ConnectionError::Unexpected { code: 200, .. }), "{error}");
    let refusal = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let (server, token) = (Some(format!("http://{}", answering(refusal))), Some("expired".to_owned()));
    let error = open(&ConnectionFlags { server, token, ..Default::default() }).unwrap_err();
    assert!(matches!(&error, ConnectionError::Unauthorized { .. }), "{error}");
}

#[test]
fn a_server_without_tls_where_tls_is_wanted_is_said_to_be_untrusted() {
    let folder = tempfile::tempdir().unwrap();
    let page = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
    let path = kubeconfig(folder.path(), "a", &format!("https://{}", answering(page)));
    let error = open(&ConnectionFlags { kubeconfig: Some(path), ..Default::default() }).unwrap_err();
    assert!(matches!(&error, ConnectionError::Tls { .. }), "{error}");
}

#[test]
fn a_proxy_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = kubeconfig(folder.path(), "a", "https://10.0.0.1");
    let text = std::fs::read_to_string(&path).unwrap();
    let with_proxy = text.replace(r#""server":"#, r#""proxy-url":"http://me:pass@proxy.example.com:3128","server":"#);
    std::fs::write(&path, with_proxy).unwrap();
    let error = open(&ConnectionFlags { kubeconfig: Some(path), ..Default::default() }).unwrap_err();
    assert!(matches!(&error, ConnectionError::Proxy { proxy, .. } if proxy == "proxy.example.com:3128"), "{error}");
}
