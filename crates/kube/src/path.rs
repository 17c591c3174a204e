//! Paths and queries of the API.

use rehome_k8s::Kind;
use rehome_model::ObjectRef;

/// `/api/v1` or `/apis/<group>/<version>`.
fn root(kind: Kind) -> String {
    let api_version = kind.api_version();
    // Only the core group has no name, and its paths begin differently.
    if api_version.contains('/') { format!("/apis/{api_version}") } else { format!("/api/{api_version}") }
}

/// All objects of a kind, in all namespaces.
pub(crate) fn all(kind: Kind) -> String {
    format!("{}/{}", root(kind), kind.plural())
}

/// One object.
pub(crate) fn one(kind: Kind, target: &ObjectRef) -> String {
    let (root, plural, name) = (root(kind), kind.plural(), escape(&target.name));
    match &target.namespace {
        Some(namespace) => format!("{root}/namespaces/{}/{plural}/{name}", escape(namespace)),
        None => format!("{root}/{plural}/{name}"),
    }
}

/// A query of these pairs, with its question mark; nothing for no pairs.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (index, (name, value)) in pairs.iter().enumerate() {
        text.push(if index == 0 { '?' } else { '&' });
        text.push_str(name);
        text.push('=');
        text.push_str(&escape(value));
    }
    text
}

/// Percent-encodes all but the unreserved characters of RFC 3986, section 2.3.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(all(Kind::Pod), "/api/v1/pods");
        assert_eq!(all(Kind::PodDisruptionBudget), "/apis/policy/v1/poddisruptionbudgets");
        assert_eq!(one(Kind::Node, &ObjectRef::node("a")), "/api/v1/nodes/a");
        let deployment = ObjectRef::namespaced("Deployment", "shop", "web");
        assert_eq!(one(Kind::Deployment, &deployment), "/apis/apps/v1/namespaces/shop/deployments/web");
        // RBAC objects can be named `system:node`; nothing may leave its place in a path.
        assert_eq!(one(Kind::Node, &ObjectRef::node("../a:b")), "/api/v1/nodes/..%2Fa%3Ab");
    }

    #[test]
    fn a_query_is_escaped() {
        assert_eq!(query(&[]), "");
        assert_eq!(
            query(&[("fieldSelector", "spec.nodeName=a"), ("limit", "5")]),
            "?fieldSelector=spec.nodeName%3Da&limit=5"
        );
    }
}
