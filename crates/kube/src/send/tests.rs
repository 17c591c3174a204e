//! The exact requests, as a service in this process sees them; and that each is sent once.

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, Request as HttpRequest, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use rehome_model::verb::Field;

use super::*;
use crate::{Connection, ConnectionFlags};

const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
struct Seen {
    method: Method,
    uri: String,
    headers: HeaderMap,
    body: Value,
}

type Log = Arc<Mutex<Vec<Seen>>>;

/// A client whose server writes down each request and answers as told.
fn server(answer: impl Fn(&Seen) -> (u16, Value) + Clone + Send + Sync + 'static) -> (Client, Log) {
    let log = Log::default();
    let seen_by = log.clone();
    let service = tower::service_fn(move |request: HttpRequest<Body>| {
        let (log, answer) = (seen_by.clone(), answer.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
            let seen = Seen { method: parts.method, uri: parts.uri.to_string(), headers: parts.headers, body };
            let (code, body) = answer(&seen);
            log.lock().unwrap().push(seen);
            let response = Response::builder().status(code).header("warning", "299 - \"beware\"");
            Ok::<_, Infallible>(response.body(Body::from(body.to_string().into_bytes())).unwrap())
        }
    });
    (Client::new(service, "default"), log)
}

fn header<'s>(seen: &'s Seen, name: &str) -> &'s str {
    seen.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[tokio::test]
async fn an_eviction_is_strict_and_names_the_uid() {
    let (client, log) = server(|_| (201, json!({"kind": "Status", "status": "Success"})));
    let request = Request::Evict { pod: ObjectRef::pod("shop", "web-0"), uid: "u-1".into() };
    let sent = send(&client, &request, "run/7/1", TIMEOUT).await;
    assert_eq!(sent.outcome, Outcome::Applied);
    assert_eq!(sent.warnings, ["299 - \"beware\""]);
    let log = log.lock().unwrap();
    let [seen] = log.as_slice() else { panic!("expected one request, found {log:?}") };
    assert_eq!(seen.method, Method::POST);
    assert_eq!(
        seen.uri,
        "/api/v1/namespaces/shop/pods/web-0/eviction?timeout=30s&fieldManager=rehome&fieldValidation=Strict"
    );
    assert_eq!(header(seen, "audit-id"), "run/7/1");
    assert_eq!(header(seen, "content-type"), "application/json");
    let expected = json!({
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web-0", "namespace": "shop"},
        "deleteOptions": {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "u-1"}},
    });
    assert_eq!(seen.body, expected);
}

#[tokio::test]
async fn a_delete_names_the_uid_and_no_grace_period() {
    let (client, log) = server(|_| (200, json!({"kind": "Pod"})));
    let request = Request::Delete { pod: ObjectRef::pod("shop", "web-0"), uid: "u-1".into() };
    assert_eq!(send(&client, &request, "run/8/1", TIMEOUT).await.outcome, Outcome::Applied);
    let log = log.lock().unwrap();
    let [seen] = log.as_slice() else { panic!("expected one request, found {log:?}") };
    assert_eq!((&seen.method, seen.uri.as_str()), (&Method::DELETE, "/api/v1/namespaces/shop/pods/web-0?timeout=30s"));
    assert_eq!(header(seen, "audit-id"), "run/8/1");
    let expected = json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "u-1"}});
    assert_eq!(seen.body, expected);
}

fn cordon() -> Request {
    let (from, to) = (None, Some("true".to_owned()));
    Request::SetField(Change { target: ObjectRef::node("old-1"), field: Field::Unschedulable, from, to })
}

#[tokio::test]
async fn a_field_is_read_and_then_patched_with_a_test() {
    let (client, log) = server(|_| (200, json!({"kind": "Node", "spec": {}})));
    assert_eq!(send(&client, &cordon(), "run/9/1", TIMEOUT).await.outcome, Outcome::Applied);
    let log = log.lock().unwrap();
    let [read, write] = log.as_slice() else { panic!("expected two requests, found {log:?}") };
    assert_eq!((&read.method, read.uri.as_str()), (&Method::GET, "/api/v1/nodes/old-1"));
    assert_eq!(header(read, "audit-id"), "", "the ID is the write's alone");
    assert_eq!(write.method, Method::PATCH);
    assert_eq!(write.uri, "/api/v1/nodes/old-1?timeout=30s&fieldManager=rehome&fieldValidation=Strict");
    assert_eq!(header(write, "content-type"), "application/json-patch+json");
    assert_eq!(header(write, "audit-id"), "run/9/1");
    let path = "/spec/unschedulable";
    let expected = json!([{"op": "test", "path": path, "value": null}, {"op": "add", "path": path, "value": true}]);
    assert_eq!(write.body, expected);
}

#[tokio::test]
async fn a_field_that_somebody_changed_is_not_written() {
    let (client, log) = server(|_| (200, json!({"kind": "Node", "spec": {"unschedulable": true}})));
    let outcome = send(&client, &cordon(), "run/9/1", TIMEOUT).await.outcome;
    assert!(matches!(outcome, Outcome::Rejected { cause: Cause::Conflict { .. } }), "{outcome:?}");
    assert_eq!(log.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_field_of_an_object_that_is_gone_is_not_found() {
    let (client, log) = server(|_| {
        (
            404,
            json!({"kind": "Status", "status": "Failure", "details": {"name": "old-1", "kind": "nodes"}, "code": 404}),
        )
    });
    let outcome = send(&client, &cordon(), "run/9/1", TIMEOUT).await.outcome;
    assert_eq!(outcome, Outcome::Rejected { cause: Cause::NotFound });
    assert_eq!(log.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_change_is_sent_once_whatever_the_answer() {
    for code in [429, 500, 502, 503, 504] {
        let (client, log) = server(move |_| (code, json!({"kind": "Status", "status": "Failure", "code": code})));
        let request = Request::Evict { pod: ObjectRef::pod("shop", "web-0"), uid: "u-1".into() };
        send(&client, &request, "run/7/1", TIMEOUT).await;
        assert_eq!(log.lock().unwrap().len(), 1, "{code}");
    }
}

/// Reads one request of HTTP/1.1; gives its method, or nothing at the end of the connection.
fn read_request(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut first = String::new();
    stream.read_line(&mut first).ok().filter(|&count| count > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    stream.read_exact(&mut vec![0; length]).ok()?;
    first.split(' ').next().map(str::to_owned)
}

/// A server over TCP that answers reads, and keeps connections open or not; a POST it counts and hangs up on.
fn hangs_up_on_posts(keep_open: bool, connections: usize) -> (String, Arc<Mutex<usize>>, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, posts) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(0)));
    let counter = posts.clone();
    let thread = std::thread::spawn(move || {
        for stream in listener.incoming().take(connections) {
            let mut stream = BufReader::new(stream.unwrap());
            while let Some(method) = read_request(&mut stream) {
                if method == "POST" {
                    *counter.lock().unwrap() += 1;
                    break;
                }
                let body = r#"{"gitVersion":"v1.34.0","metadata":{"uid":"u"}}"#;
                let close = if keep_open { "" } else { "connection: close\r\n" };
                let answer = format!("HTTP/1.1 200 OK\r\n{close}content-length: {}\r\n\r\n{body}", body.len());
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
                if !keep_open {
                    break;
                }
            }
        }
    });
    (format!("http://{address}"), posts, thread)
}

fn evict_through(connection: &Connection) -> Outcome {
    let request = Request::Evict { pod: ObjectRef::pod("shop", "web-0"), uid: "u-1".into() };
    connection.runtime().block_on(send(connection.client(), &request, "run/7/1", TIMEOUT)).outcome
}

#[test]
fn a_request_that_was_read_and_not_answered_is_not_sent_again() {
    // The connection that served the reads is taken again for the eviction: the case in which HTTP clients like to try
    // once more on a new one.
    let (server, posts, _thread) = hangs_up_on_posts(true, usize::MAX);
    let flags = ConnectionFlags { server: Some(server), ..ConnectionFlags::default() };
    let connection = Connection::open(&flags, "rehome/test").unwrap();
    let before = clock::now();
    let outcome = evict_through(&connection);
    assert!(
        matches!(outcome, Outcome::Unknown { not_before, .. } if not_before >= before + REQUEST_TIMEOUT + LANDING_MARGIN),
        "{outcome:?}"
    );
    assert_eq!(*posts.lock().unwrap(), 1);
}

#[test]
fn a_connection_that_is_refused_has_sent_nothing() {
    // Two connections for the two reads of the first contact, then the port is closed.
    let (server, _posts, thread) = hangs_up_on_posts(false, 2);
    let flags = ConnectionFlags { server: Some(server), ..ConnectionFlags::default() };
    let connection = Connection::open(&flags, "rehome/test").unwrap();
    thread.join().unwrap();
    let outcome = evict_through(&connection);
    assert!(matches!(outcome, Outcome::Rejected { cause: Cause::Server { code: 0, .. } }), "{outcome:?}");
}
