//! Every Service of type LoadBalancer has the addresses that it had: clients and DNS know them.

use rehome_k8s::{Kind, Record};

use super::{Compared, Found, offender};

pub(super) fn check(compared: &Compared<'_>) -> Found {
    let mut offenders = Vec::new();
    let mut services = 0;
    for record in compared.before.of_kind(Kind::Service) {
        let Record::Service(before) = record else { continue };
        if before.load_balancer.is_empty() {
            continue;
        }
        services += 1;
        match compared.after.get(Kind::Service, &record.key()) {
            Some(Record::Service(after)) if after.load_balancer == before.load_balancer => {}
            Some(Record::Service(after)) => {
                let list = |addresses: &[String]| {
                    if addresses.is_empty() { "no address".to_owned() } else { addresses.join(", ") }
                };
                let why = format!("has {}, had {}", list(&after.load_balancer), list(&before.load_balancer));
                offenders.push(offender(record.reference(), why));
            }
            _ => offenders.push(offender(record.reference(), "does not exist any more")),
        }
    }
    Found { message: format!("{services} load balancers were compared"), offenders }
}
