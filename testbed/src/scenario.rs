//! Whole clusters that tests move: written once, created on the real API server and in the simulated world alike.

pub mod six_to_six;
