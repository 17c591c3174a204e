//! Services, EndpointSlices, Events.

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::discovery::v1 as discovery;
use rehome_model::{ObjectRef, Uid};

use super::{BadField, hostile, meta, time};
use crate::selector::Selector;
use crate::service::{Endpoint, EndpointSlice, EventRecord, Service};

pub(super) fn service(object: core::Service) -> Result<Service, BadField> {
    let spec = object.spec.unwrap_or_default();
    let ingress = object.status.and_then(|status| status.load_balancer).and_then(|balancer| balancer.ingress);
    Ok(Service {
        meta: meta(object.metadata),
        selector: spec.selector.filter(|s| !s.is_empty()).map_or(Selector::Nothing, |s| Selector::of_labels(&s)),
        service_type: spec.type_.unwrap_or_else(|| "ClusterIP".to_owned()),
        load_balancer: ingress
            .unwrap_or_default()
            .into_iter()
            .filter_map(|point| point.ip.or(point.hostname))
            .collect(),
        publish_not_ready: spec.publish_not_ready_addresses == Some(true),
    })
}

pub(super) fn endpoint_slice(object: discovery::EndpointSlice) -> Result<EndpointSlice, BadField> {
    let endpoints = object
        .endpoints
        .unwrap_or_default()
        .into_iter()
        .map(|endpoint| Endpoint {
            ready: endpoint.conditions.and_then(|conditions| conditions.ready).unwrap_or(true),
            pod: endpoint
                .target_ref
                .filter(|target| target.kind.as_deref() == Some("Pod"))
                .map(|target| (target.name.unwrap_or_default(), Uid(target.uid.unwrap_or_default()))),
            node: endpoint.node_name,
        })
        .collect();
    Ok(EndpointSlice { meta: meta(object.metadata), endpoints })
}

pub(super) fn event(object: core::Event) -> Result<EventRecord, BadField> {
    let about = object.involved_object;
    let about = about.name.map(|name| ObjectRef {
        kind: about.kind.unwrap_or_default(),
        namespace: about.namespace.filter(|namespace| !namespace.is_empty()),
        name,
    });
    let series = object.series.and_then(|series| series.last_observed_time);
    Ok(EventRecord {
        meta: meta(object.metadata),
        about,
        reason: object.reason.unwrap_or_default(),
        message: hostile::one_line(object.message.as_deref().unwrap_or_default()),
        // Of an event that goes on, `eventTime` is the first time.
        last: object.last_timestamp.map(time).or(series.or(object.event_time).map(|moment| moment.0.into())),
        count: object.count.map_or(1, i64::from),
    })
}
