//! The testbed: a real control plane on one machine, nodes played by kwok, and the checker that reads its audit log.
//!
//! Not shipped. It knows nothing of the engine: what it judges are a plan, a journal and an audit log.

pub mod assets;
pub mod audit;
pub mod bench;
pub mod between;
pub mod clock;
pub mod control_plane;
pub mod fidelity;
pub mod go;
pub mod kwok;
pub mod oracle;
pub mod scale;
pub mod scenario;
