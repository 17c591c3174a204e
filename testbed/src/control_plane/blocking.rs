//! Asks the API server from code that is not asynchronous, whether or not it is called within an async runtime.

use std::path::Path;

use super::{ControlPlane, ControlPlaneError};

/// Runs one question with a new client in a runtime and a thread of its own: a runtime cannot be started inside another
/// one's thread.
pub(super) fn with_client<T, F>(
    kubeconfig: &Path,
    ask: impl FnOnce(kube::Client) -> F + Send,
) -> Result<T, ControlPlaneError>
where
    T: Send,
    F: Future<Output = Result<T, kube::Error>>,
{
    let asked = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let client = ControlPlane::client(kubeconfig).await?;
                Ok(ask(client).await?)
            })
        });
        thread.join()
    });
    asked.unwrap_or_else(|_| Err(std::io::Error::other("the asking thread panicked").into()))
}
