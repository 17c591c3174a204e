//! The indexes of a view against a search through all of its objects.

use std::sync::Arc;

use proptest::prelude::*;
use rehome_k8s::meta::{Meta, OwnerRef};
use rehome_k8s::pod::Pod;
use rehome_k8s::selector::Selector;
use rehome_k8s::{Key, Kind, Record, View};
use rehome_model::Uid;

#[derive(Clone, Debug)]
enum Change {
    Insert { name: u8, uid: u8, node: Option<u8>, owner: Option<u8> },
    Remove { name: u8 },
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0..6_u8, 0..8_u8, proptest::option::of(0..3_u8), proptest::option::of(0..3_u8))
            .prop_map(|(name, uid, node, owner)| Change::Insert { name, uid, node, owner }),
        1 => (0..6_u8).prop_map(|name| Change::Remove { name }),
    ]
}

/// Names over two namespaces, one of which begins like the other.
fn key(name: u8) -> Key {
    Key::new(if name.is_multiple_of(2) { "a" } else { "a-b" }, format!("p{name}"))
}

fn pod(name: u8, uid: u8, node: Option<u8>, owner: Option<u8>) -> Pod {
    let Key { namespace, name } = key(name);
    let controller = owner.map(|owner| OwnerRef { uid: Uid(format!("o{owner}")), ..OwnerRef::default() });
    let labels =
        [("slot", format!("s{}", uid % 3)), ("app", node.map_or_else(|| "none".to_owned(), |n| format!("n{n}")))];
    let labels = labels.into_iter().take(usize::from(uid % 4)).map(|(key, value)| (key.to_owned(), value)).collect();
    Pod {
        meta: Meta { namespace, name, uid: Uid(format!("u{uid}")), labels, controller, ..Meta::default() },
        node: node.map(|node| format!("n{node}")),
        ..Pod::default()
    }
}

fn selectors() -> Vec<Selector> {
    let texts = ["slot=s1", "slot=s0,app=n1", "slot in (s0,s2)", "app!=n1", "app", "!app,slot=s1", "slot=absent"];
    let parsed = texts.iter().map(|text| Selector::parse(text).unwrap());
    parsed.chain([Selector::Nothing, Selector::All(Vec::new())]).collect()
}

fn names<'p>(pods: impl Iterator<Item = &'p Arc<Pod>>) -> Vec<String> {
    pods.map(|pod| pod.meta.key().to_string()).collect()
}

proptest! {
    #[test]
    fn indexes_agree_with_a_search(changes in proptest::collection::vec(change(), 0..40)) {
        let mut view = View::default();
        for change in changes {
            match change {
                Change::Insert { name, uid, node, owner } => {
                    view.insert(Record::Pod(Arc::new(pod(name, uid, node, owner))));
                }
                Change::Remove { name } => {
                    view.remove(Kind::Pod, &key(name));
                }
            }
            for number in 0..3 {
                let node = format!("n{number}");
                let on: Vec<_> = names(view.pods().filter(|pod| pod.node.as_ref() == Some(&node)));
                prop_assert_eq!(names(view.pods_on(&node)), on);
                let uid = Uid(format!("o{number}"));
                let owned = names(view.pods().filter(|pod| pod.meta.controller.as_ref().is_some_and(|c| c.uid == uid)));
                prop_assert_eq!(names(view.pods_controlled_by(&uid)), owned);
            }
            for namespace in ["a", "a-b"] {
                let inside = names(view.pods().filter(|pod| pod.meta.namespace == namespace));
                prop_assert_eq!(names(view.pods_in(namespace)), inside);
                for selector in selectors() {
                    let search = view.pods_in(namespace).filter(|pod| selector.matches(&pod.meta.labels));
                    let found = view.pods_matching(namespace, &selector);
                    prop_assert_eq!(names(found.into_iter()), names(search), "{:?}", selector);
                }
            }
            for number in 0..8 {
                let uid = Uid(format!("u{number}"));
                if let Some(found) = view.by_uid(&uid) {
                    prop_assert_eq!(&found.meta().uid, &uid);
                }
            }
        }
    }
}
