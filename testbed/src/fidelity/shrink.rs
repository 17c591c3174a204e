//! A cluster is reduced to the least that still shows a difference: objects first, then fields.

use serde_json::Value;

use super::generate::Cluster;

/// A place within an object: keys and indices, from the outside in.
type Path = Vec<String>;

/// The least cluster for which `shows` still holds, found by leaving out one thing after the other. `pod` is the only
/// one that stays to be judged. `shows` must hold for the cluster that is given.
pub fn shrink(cluster: &Cluster, pod: &str, shows: &mut dyn FnMut(&Cluster) -> bool) -> Cluster {
    let mut least = cluster.clone();
    let others_left_out = Cluster { pods: vec![pod.to_owned()], ..least.clone() };
    if shows(&others_left_out) {
        least = others_left_out;
    }
    loop {
        let before = size(&least);
        objects(&mut least, shows);
        fields(&mut least, shows);
        if size(&least) == before {
            return least;
        }
    }
}

fn size(cluster: &Cluster) -> usize {
    cluster.objects.iter().map(|object| object.to_string().len()).sum()
}

/// Leaves out halves, quarters and so on of the objects, and at last single ones.
fn objects(least: &mut Cluster, shows: &mut dyn FnMut(&Cluster) -> bool) {
    let mut width = least.objects.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        while at < least.objects.len() {
            let mut less = least.clone();
            let end = (at + width).min(less.objects.len());
            less.objects.drain(at..end);
            if shows(&less) {
                *least = less;
            } else {
                at += width;
            }
        }
        if width == 1 {
            return;
        }
        width = width.div_ceil(2);
    }
}

/// Leaves out fields and list items, the outermost first.
fn fields(least: &mut Cluster, shows: &mut dyn FnMut(&Cluster) -> bool) {
    for index in 0..least.objects.len() {
        let mut open: Vec<Path> = vec![vec![]];
        while let Some(path) = open.pop() {
            for key in keys(&least.objects[index], &path).into_iter().rev() {
                let mut inner = path.clone();
                inner.push(key);
                // Without these it is no object at all.
                if matches!(inner.join(".").as_str(), "kind" | "apiVersion" | "metadata" | "metadata.name") {
                    open.push(inner);
                    continue;
                }
                let mut less = least.clone();
                remove(&mut less.objects[index], &inner);
                if shows(&less) {
                    *least = less;
                } else {
                    open.push(inner);
                }
            }
        }
    }
}

fn keys(object: &Value, path: &Path) -> Vec<String> {
    match path.iter().try_fold(object, |value, key| step(value, key)) {
        Some(Value::Object(map)) => map.keys().cloned().collect(),
        Some(Value::Array(list)) => (0..list.len()).map(|index| index.to_string()).collect(),
        _ => vec![],
    }
}

fn step<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        _ => value.get(key),
    }
}

fn remove(object: &mut Value, path: &Path) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut value = object;
    for key in parents {
        let inner = match value {
            Value::Array(list) => key.parse::<usize>().ok().and_then(|index| list.get_mut(index)),
            Value::Object(map) => map.get_mut(key),
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => return,
        }
    }
    match value {
        Value::Array(list) => {
            if let Some(index) = last.parse().ok().filter(|index| *index < list.len()) {
                list.remove(index);
            }
        }
        Value::Object(map) => {
            map.remove(last);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let object = |name: &str| {
            json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "labels": {"a": "1", "b": "2"}},
            "spec": {"taints": [{"key": "x"}, {"key": "y"}]}})
        };
        let cluster = Cluster {
            seed: 0,
            themes: vec![],
            objects: (0..9).map(|index| object(&format!("n{index}"))).collect(),
            pods: vec!["x/p".to_owned(), "x/q".to_owned()],
        };
        let mut shows = |cluster: &Cluster| {
            cluster.objects.iter().any(|object| {
                object["metadata"]["name"] == "n4"
                    && object["spec"]["taints"]
                        .as_array()
                        .is_some_and(|list| list.iter().any(|taint| taint["key"] == "y"))
            })
        };
        let least = shrink(&cluster, "x/q", &mut shows);
        assert_eq!(least.pods, ["x/q"]);
        assert_eq!(
            least.objects,
            [
                json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n4"}, "spec": {"taints": [{"key": "y"}]}})
            ]
        );
    }
}
