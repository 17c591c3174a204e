//! Every workload has as many Ready pods as before, and asks for as many replicas.

use rehome_k8s::{Kind, readiness};

use super::{Compared, Found, offender, topmost};

pub(super) fn check(compared: &Compared<'_>) -> Found {
    let mut offenders = Vec::new();
    let mut workloads = 0;
    // Jobs end by themselves, CronJobs make new ones: neither is expected to look as before.
    for record in topmost(compared.before).filter(|r| !matches!(r.kind(), Kind::Job | Kind::CronJob)) {
        let reference = record.reference();
        if compared.after.gap(record.kind()).is_some() {
            offenders.push(offender(reference, "its kind is not known after the move"));
            continue;
        }
        workloads += 1;
        let ready = (readiness::serving(compared.before, &reference), readiness::serving(compared.after, &reference));
        let Some(after) = compared.after.get(record.kind(), &record.key()) else {
            offenders.push(offender(reference, "does not exist any more"));
            continue;
        };
        // How many nodes there are decides over a DaemonSet's pods.
        if record.kind() == Kind::DaemonSet {
            if after.as_workload().is_some_and(|w| w.status.ready < w.replicas.unwrap_or(0)) && ready.1 < ready.0 {
                offenders
                    .push(offender(reference, format!("{} of its pods are Ready, {} were before", ready.1, ready.0)));
            }
            continue;
        }
        let desired = (readiness::desired(compared.before, &reference), readiness::desired(compared.after, &reference));
        if desired.0 != desired.1 {
            let number = |n: Option<i64>| n.map_or("none".to_owned(), |n| n.to_string());
            let why = format!("asks for {} replicas, asked for {} before", number(desired.1), number(desired.0));
            offenders.push(offender(reference, why));
        } else if ready.1 < ready.0 {
            offenders.push(offender(reference, format!("{} of its pods are Ready, {} were before", ready.1, ready.0)));
        }
    }
    Found { message: format!("{workloads} workloads were compared"), offenders }
}
