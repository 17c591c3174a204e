//! What the conditions of a plan mean on a view.

use rehome_k8s::{Key, Kind, View, field, owner, readiness};
use rehome_model::ObjectRef;
use rehome_model::condition::Condition;

/// Whether a condition holds; otherwise what was found instead.
///
/// # Errors
/// What was found, in words that complete "expected …, found …".
pub fn check(view: &View, condition: &Condition) -> Result<(), String> {
    match condition {
        Condition::FieldEquals { target, field: name, value } => match field::read(view, target, name) {
            None => Err(format!("there is no {target}")),
            Some(found) if found == *value => Ok(()),
            Some(found) => Err(found.map_or_else(|| "not set".to_owned(), |found| format!("{found:?}"))),
        },
        Condition::NodeReady { node } => match view.node(node) {
            None => Err(format!("there is no Node {node}")),
            Some(found) if found.ready == Some(true) => Ok(()),
            Some(found) if found.ready.is_none() => Err("a node without the condition Ready".to_owned()),
            Some(_) => Err("it is not Ready".to_owned()),
        },
        Condition::WorkloadIs { workload, replicas, strategy } => workload_is(view, workload, *replicas, strategy),
        Condition::RolledOut { workload } => match deployment(view, workload) {
            None => Err(format!("there is no {workload}")),
            Some(found) if readiness::rolled_out(found) => Ok(()),
            Some(found) => Err(format!(
                "{} of {} replicas updated, {} available",
                found.status.updated,
                found.replicas.unwrap_or(1),
                found.status.available
            )),
        },
        Condition::SettledOffNodes { workload, nodes } => settled_off(view, workload, nodes),
        Condition::Exists { target } => match Kind::by_name(&target.kind) {
            Some(kind) if view.get(kind, &Key::of(target)).is_some() => Ok(()),
            _ => Err("it does not exist".to_owned()),
        },
        Condition::All { of } => of.iter().try_for_each(|part| check(view, part)),
        Condition::Any { of } => {
            let mut found = Vec::new();
            for part in of {
                match check(view, part) {
                    Ok(()) => return Ok(()),
                    Err(why) => found.push(why),
                }
            }
            Err(found.join("; "))
        }
    }
}

fn deployment<'v>(view: &'v View, workload: &ObjectRef) -> Option<&'v rehome_k8s::workload::Workload> {
    view.workload(Kind::Deployment, &Key::of(workload)).map(std::convert::AsRef::as_ref)
}

fn workload_is(view: &View, workload: &ObjectRef, replicas: Option<i64>, strategy: &str) -> Result<(), String> {
    let Some(kind) = Kind::by_name(&workload.kind) else {
        // A custom controller, which the view does not hold: its pods are all that can be seen of it.
        return if owner::pods_of(view, workload).is_empty() { Err("it has no pods".to_owned()) } else { Ok(()) };
    };
    if kind == Kind::Pod {
        return match view.pod(&Key::of(workload)) {
            Some(_) => Ok(()),
            None => Err(format!("there is no {workload}")),
        };
    }
    let Some(found) = view.workload(kind, &Key::of(workload)) else { return Err(format!("there is no {workload}")) };
    let found_strategy = found.strategy.to_string();
    if found.replicas != replicas {
        let found = found.replicas.map_or_else(|| "none".to_owned(), |replicas| replicas.to_string());
        return Err(format!("it asks for {found} replicas"));
    }
    if found_strategy != strategy {
        return Err(format!("its strategy is {found_strategy}"));
    }
    Ok(())
}

fn settled_off(view: &View, workload: &ObjectRef, nodes: &[String]) -> Result<(), String> {
    let pods = owner::pods_of(view, workload);
    if let Some((pod, node)) = pods.iter().find_map(|pod| {
        let node = pod.node.as_ref()?;
        nodes.contains(node).then_some((pod, node))
    }) {
        return Err(format!("{} is on {node}", pod.meta.key()));
    }
    let serving = readiness::serving(view, workload);
    let desired = readiness::desired(view, workload).unwrap_or(0);
    if i64::try_from(serving).unwrap_or(i64::MAX) < desired {
        return Err(format!("{serving} of {desired} pods are Ready"));
    }
    Ok(())
}
