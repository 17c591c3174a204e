//! Plans of small clusters: their shape, their properties, and each rule with a cluster in which it fires and one in
//! which it nearly does.

mod properties;
mod rules_of_budgets;
mod rules_of_nodes;
mod rules_of_pods;
mod rules_of_room;
mod shape;
