//! Which values go, by the name of the field that they stand in and by what they look like.

use rehome_model::canonical::rewrite::{Choose, Shape};

use super::ANNOTATION_LIMIT;

/// The rules as a choice of values: the same ones for a text that is read and for a tree of values.
///
/// They say nothing of kinds that are never kept ([`super::never_kept`]), and nothing of a List's items.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redaction;

/// Where a value stands, as far as the rules ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    field: Field,
    /// It is the value of an annotation, whatever that is called.
    annotation: bool,
}

/// What the name of a field means to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// Nothing, as most.
    Other,
    /// The whole of a Node.
    Node,
    /// Its status.
    NodeStatus,
    /// `command`, `args` and `httpHeaders`.
    Arguments,
    /// `caBundle`.
    Bundle,
    /// `env`.
    Environment,
    /// An item of it.
    Variable,
    /// `terminated`.
    Terminated,
    /// `annotations`.
    Annotations,
    /// `managedFields`.
    ManagedFields,
    /// An item of it.
    Manager,
}

impl Place {
    /// The whole of an object of this kind.
    #[must_use]
    pub fn root(kind: &str) -> Self {
        Self { field: if kind == "Node" { Field::Node } else { Field::Other }, annotation: false }
    }
}

impl Choose for Redaction {
    type Place = Place;

    fn member(&mut self, of: Place, name: &str) -> Option<Place> {
        let stays = match of.field {
            Field::NodeStatus => name != "images",
            Field::Variable => matches!(name, "name" | "valueFrom"),
            Field::Terminated => name != "message",
            Field::Annotations => !super::speaks_of_credentials(name),
            Field::Manager => matches!(name, "manager" | "operation" | "subresource"),
            _ => true,
        };
        let field = match name {
            "command" | "args" | "httpHeaders" => Field::Arguments,
            "caBundle" => Field::Bundle,
            "env" => Field::Environment,
            "terminated" => Field::Terminated,
            "annotations" => Field::Annotations,
            "managedFields" => Field::ManagedFields,
            "status" if of.field == Field::Node => Field::NodeStatus,
            _ => Field::Other,
        };
        stays.then_some(Place { field, annotation: of.field == Field::Annotations })
    }

    fn element(&mut self, of: Place) -> Place {
        let field = match of.field {
            Field::Environment => Field::Variable,
            Field::ManagedFields => Field::Manager,
            _ => Field::Other,
        };
        Place { field, annotation: false }
    }

    fn keeps(&mut self, at: Place, shape: Shape<'_>) -> bool {
        match (at.field, shape) {
            (Field::Bundle, _) => false,
            (Field::Variable | Field::Manager, shape) => shape == Shape::Object,
            (_, Shape::Text(text)) => !at.annotation || text.len() <= ANNOTATION_LIMIT,
            // A label or a key of a selector can have any of these names, but then its value is text.
            (Field::Arguments, Shape::Array) => false,
            // Some custom resources write their environment as a map.
            (Field::Environment, Shape::Object) => false,
            _ => true,
        }
    }
}
