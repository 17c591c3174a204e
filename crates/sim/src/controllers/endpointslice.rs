//! EndpointSlices: which pods a Service sends traffic to.
//!
//! Source: `k8s.io/kubernetes/staging/src/k8s.io/endpointslice` (`podToEndpoint`, `ShouldPodBeInEndpoints`). A Service
//! that had several slices (dual stack) keeps them, each with all endpoints; the limit of 100 per slice is not modelled.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::selector::Selector;
use rehome_k8s::service::{Endpoint, EndpointSlice, SERVICE_NAME_LABEL, Service};
use rehome_k8s::{Key, Kind, Meta, OwnerRef, Record, View};
use rehome_model::Timestamp;

use super::{Change, Controller, Mutation, Reconciled};

/// The controller of EndpointSlices.
#[derive(Clone, Copy, Debug)]
pub struct EndpointSlices;

impl Controller for EndpointSlices {
    fn user(&self) -> &'static str {
        "system:serviceaccount:kube-system:endpointslice-controller"
    }

    fn concerned(&self, view: &View, change: &Change) -> Vec<(Kind, Key)> {
        let mut keys = Vec::new();
        for record in [&change.before, &change.after].into_iter().flatten() {
            match record {
                Record::Service(service) => keys.push((Kind::Service, service.meta.key())),
                Record::Pod(pod) => keys.extend(
                    services(view, &pod.meta.namespace)
                        .filter(|service| service.selector.matches(&pod.meta.labels))
                        .map(|service| (Kind::Service, service.meta.key())),
                ),
                _ => {}
            }
        }
        keys.dedup();
        keys
    }

    fn reconcile(&mut self, view: &View, _kind: Kind, key: &Key, now: Timestamp) -> Reconciled {
        let slices: Vec<&Arc<EndpointSlice>> = view
            .in_namespace(Kind::EndpointSlice, &key.namespace)
            .filter_map(|record| if let Record::EndpointSlice(slice) = record { Some(slice) } else { None })
            .filter(|slice| slice.meta.labels.get(SERVICE_NAME_LABEL) == Some(&key.name))
            .collect();
        let Some(Record::Service(service)) = view.get(Kind::Service, key) else {
            let gone = slices.into_iter().map(|slice| Mutation::Delete(Kind::EndpointSlice, slice.meta.key()));
            return Reconciled { mutations: gone.collect(), requeue: None };
        };
        if service.selector == Selector::Nothing {
            return Reconciled::default();
        }
        let endpoints: Vec<Endpoint> = view
            .pods_matching(&key.namespace, &service.selector)
            .into_iter()
            .filter(|pod| has_address(pod))
            .map(|pod| Endpoint {
                ready: service.publish_not_ready || (pod.ready && pod.meta.deleting.is_none()),
                pod: Some((pod.meta.name.clone(), pod.meta.uid.clone())),
                node: pod.node.clone(),
            })
            .collect();
        let mut mutations = Vec::new();
        if slices.is_empty() {
            mutations.push(Mutation::Create(Record::EndpointSlice(Arc::new(first_slice(service, endpoints, now)))));
        } else {
            for slice in slices.into_iter().filter(|slice| slice.endpoints != endpoints) {
                let slice = EndpointSlice { endpoints: endpoints.clone(), ..(**slice).clone() };
                mutations.push(Mutation::Update(Record::EndpointSlice(Arc::new(slice))));
            }
        }
        Reconciled { mutations, requeue: None }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

fn services<'v>(view: &'v View, namespace: &str) -> impl Iterator<Item = &'v Arc<Service>> {
    view.in_namespace(Kind::Service, namespace)
        .filter_map(|record| if let Record::Service(service) = record { Some(service) } else { None })
}

/// A pod gets its address when it starts, and loses its endpoint when it has ended.
fn has_address(pod: &Pod) -> bool {
    pod.node.is_some() && pod.phase == Phase::Running
}

fn first_slice(service: &Service, endpoints: Vec<Endpoint>, now: Timestamp) -> EndpointSlice {
    EndpointSlice {
        meta: Meta {
            namespace: service.meta.namespace.clone(),
            name: format!("{}-", service.meta.name),
            labels: BTreeMap::from([(SERVICE_NAME_LABEL.to_owned(), service.meta.name.clone())]),
            controller: Some(OwnerRef {
                api_version: Kind::Service.api_version().to_owned(),
                kind: Kind::Service.name().to_owned(),
                name: service.meta.name.clone(),
                uid: service.meta.uid.clone(),
            }),
            created: Some(now),
            ..Meta::default()
        },
        endpoints,
    }
}
