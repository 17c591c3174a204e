//! A TCP proxy before the API server that can lose answers: bytes to the server pass, those that come back do not.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A running proxy. Its threads end with their connections.
pub(crate) struct Proxy {
    address: SocketAddr,
    cut: Arc<AtomicBool>,
}

impl Proxy {
    /// Listens on a free port of loopback and passes everything on.
    pub(crate) fn before(server: &str) -> Self {
        let upstream: SocketAddr = server.trim_start_matches("https://").trim_end_matches('/').parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, cut) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let flag = cut.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(upstream) else { continue };
                let (client_too, server_too) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let never = Arc::new(AtomicBool::new(false));
                std::thread::spawn(move || pass(client_too, server_too, &never));
                let cut = flag.clone();
                std::thread::spawn(move || pass(server, client, &cut));
            }
        });
        Self { address, cut }
    }

    /// Its address as a kubeconfig has it.
    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// From now on, a connection on which the server answers is cut instead.
    pub(crate) fn lose_answers(&self, lose: bool) {
        self.cut.store(lose, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || cut.load(Ordering::SeqCst) || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
