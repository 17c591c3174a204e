//! Every claim that was bound is bound to the same volume.

use rehome_k8s::{Kind, Record};

use super::{Compared, Found, offender};

pub(super) fn check(compared: &Compared<'_>) -> Found {
    let mut offenders = Vec::new();
    let mut bound = 0;
    for record in compared.before.of_kind(Kind::PersistentVolumeClaim) {
        let Record::PersistentVolumeClaim(before) = record else { continue };
        if before.phase != "Bound" {
            continue;
        }
        bound += 1;
        match compared.after.get(Kind::PersistentVolumeClaim, &record.key()) {
            Some(Record::PersistentVolumeClaim(after)) if after.phase != "Bound" => {
                offenders.push(offender(record.reference(), format!("is {}", after.phase)));
            }
            Some(Record::PersistentVolumeClaim(after)) if after.volume != before.volume => {
                let name = |volume: &Option<String>| volume.clone().unwrap_or_else(|| "no volume".to_owned());
                let why = format!("is bound to {}, was to {}", name(&after.volume), name(&before.volume));
                offenders.push(offender(record.reference(), why));
            }
            Some(_) => {}
            None => offenders.push(offender(record.reference(), "does not exist any more")),
        }
    }
    Found { message: format!("{bound} bound claims were compared"), offenders }
}
