//! Fidelity: random clusters on which kube-scheduler's own packages and our model are asked the same questions.
//!
//! [`generate`] makes clusters that sit on the edges of the rules, [`judge`] asks both sides, [`compare`] yields what they
//! say differently, [`coverage`] counts what was really decided, [`shrink`] reduces a difference to the least cluster
//! that shows it, and [`record`] keeps such clusters with the oracle's answers, so that a test can ask again without Go.

pub mod compare;
pub mod coverage;
pub mod dice;
pub mod generate;
pub mod judge;
pub mod record;
pub mod run;
pub mod shrink;
pub mod verdict;
