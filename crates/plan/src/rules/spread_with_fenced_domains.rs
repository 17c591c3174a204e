//! A spread that counts the emptied nodes.
//!
//! ## What it checks
//! A pod has a hard topology spread constraint with `nodeTaintsPolicy: Ignore` (the default), and no target satisfies
//! it once the old nodes stand there empty.
//!
//! ## Why it matters
//! The scheduler counts fenced and cordoned nodes as domains with no pods. They hold the minimum at zero, so that no
//! domain may have more than `maxSkew` pods: the successors stay Pending although there is room.
//!
//! ## How to fix
//! Set `nodeTaintsPolicy: Honor` on the constraint, or `whenUnsatisfiable: ScheduleAnyway` until the move is over.

use rehome_k8s::Kind;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;
use crate::facts::placement;

pub(super) const RULE: Rule =
    Rule { code: Code(1007), name: "spread-with-fenced-domains", needs: &[Kind::Node, Kind::Pod], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let homeless = draft
        .placements
        .homeless
        .iter()
        .filter(|(_, rejections)| rejections.iter().any(|(_, rejection)| rejection.plugin == "PodTopologySpread"));
    homeless
        .map(|(pod, rejections)| {
            let ignoring = pod.spec.spread.iter().find(|constraint| constraint.hard && !constraint.honor_node_taints);
            let why = match ignoring {
                Some(constraint) => format!(
                    "its spread over {} counts the fenced nodes as empty domains, so no domain may hold more than {} pods",
                    constraint.topology_key, constraint.max_skew
                ),
                None => "its spread cannot be kept on the targets".to_owned(),
            };
            Found {
                severity: Severity::Blocking,
                subject: pod.meta.key().reference(Kind::Pod),
                message: format!("{why}: {}", placement::sentence(rejections)),
                remedies: vec![
                    "set nodeTaintsPolicy: Honor on the constraint, where the workload is declared".to_owned(),
                    "or whenUnsatisfiable: ScheduleAnyway until the move is over".to_owned(),
                ],
            }
        })
        .collect()
}
