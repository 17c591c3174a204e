//! `--flavor cpu=4,memory=16Gi,…`.

use rehome_model::flavor::{Flavor, Quantity};

/// What a flavor may say.
const EXPECTED: &str = "expected cpu=4,memory=16Gi and, if known, name=, provider=, zone= (again for each), pods=, attach=, \
     disk=, capacity=, price=, label:KEY=VALUE, taint:KEY=VALUE:EFFECT or RESOURCE=N";

/// Reads a flavor.
pub(crate) fn flavor(text: &str) -> Result<Flavor, String> {
    let mut flavor = Flavor::default();
    let (mut cpu, mut memory) = (None, None);
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("{EXPECTED}; found {part:?}"))?;
        let number = || value.parse::<i64>().map_err(|_| format!("expected a whole number for {key}, found {value:?}"));
        match key {
            "cpu" => cpu = Some(quantity(value)),
            "memory" => memory = Some(quantity(value)),
            "name" => value.clone_into(&mut flavor.name),
            "provider" => flavor.provider = Some(value.to_owned()),
            "zone" => flavor.zones.push(value.to_owned()),
            "pods" => flavor.max_pods = Some(number()?),
            "attach" => flavor.attach_limit = Some(number()?),
            "disk" => flavor.disk = Some(quantity(value)),
            "capacity" => flavor.capacity = Some(quantity(value)),
            "price" => {
                let price = value.parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
                flavor.price = Some(price.ok_or_else(|| format!("expected a price, found {value:?}"))?);
            }
            _ => match (key.strip_prefix("label:"), key.strip_prefix("taint:")) {
                (Some(label), _) => {
                    flavor.labels.insert(label.to_owned(), value.to_owned());
                }
                (_, Some(taint)) => flavor.taints.push(format!("{taint}={value}")),
                _ if key.contains('/') || key.starts_with("hugepages-") => {
                    flavor.resources.insert(key.to_owned(), quantity(value));
                }
                _ => return Err(format!("{EXPECTED}; found {part:?}")),
            },
        }
    }
    match (cpu, memory) {
        (Some(cpu), Some(memory)) => Ok(Flavor { cpu, memory, ..flavor }),
        _ => Err(EXPECTED.to_owned()),
    }
}

fn quantity(text: &str) -> Quantity {
    text.parse().map_or_else(|_| Quantity::Text(text.to_owned()), Quantity::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flavor_is_read_part_by_part() {
        let text = "cpu=4,memory=16Gi,name=a4,provider=gke,zone=a,zone=b,pods=110,attach=25,price=12.5,label:pool=new,\
                    taint:team=x:NoSchedule,nvidia.com/gpu=1";
        let read = flavor(text).unwrap();
        assert_eq!((read.cpu, read.memory), (Quantity::Whole(4), Quantity::Text("16Gi".to_owned())));
        assert_eq!(
            (read.zones.len(), read.max_pods, read.attach_limit, read.price),
            (2, Some(110), Some(25), Some(12.5))
        );
        assert_eq!((read.labels["pool"].as_str(), read.taints[0].as_str()), ("new", "team=x:NoSchedule"));
        assert_eq!(read.resources["nvidia.com/gpu"], Quantity::Whole(1));
        for wrong in [
            "cpu=4",
            "memory=1Gi",
            "cpu=4,memory=16Gi,colour=blue",
            "cpu",
            "cpu=4,memory=1Gi,pods=many",
            "cpu=1,memory=1Gi,price=-1",
        ] {
            assert!(flavor(wrong).is_err(), "{wrong}");
        }
    }
}
