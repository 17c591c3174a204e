//! The text that is written in one pass is the text of the tree of values.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::canonical;

fn everything(json: &str) -> Result<String, serde_json::Error> {
    let mut out = String::from("before");
    assert!(rewrite(json, &mut Everything, (), &mut out)?);
    Ok(out["before".len()..].to_owned())
}

fn by_tree(json: &str) -> String {
    let mut out = String::new();
    canonical::write(&serde_json::from_str(json).unwrap(), &mut out);
    out
}

/// A JSON text with members in any order and names that come twice.
fn json() -> impl Strategy<Value = String> {
    let text = prop_oneof!["[a-c]{0,2}", Just("\u{7f}ü\"\\\n\u{1}".to_owned()), Just("\u{1f980}".to_owned())];
    let quoted = text.clone().prop_map(|text| serde_json::to_string(&text).unwrap());
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just(r#""\u00e9\/""#.to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        any::<u64>().prop_map(|value| value.to_string()),
        prop_oneof![Just("-0"), Just("1.50"), Just("1E3"), Just("18446744073709551616"), Just("-0.0")]
            .prop_map(str::to_owned),
        quoted,
    ];
    leaf.prop_recursive(4, 48, 5, move |inner| {
        let name = text.clone().prop_map(|text| serde_json::to_string(&text).unwrap());
        let member = (name, inner.clone()).prop_map(|(name, value)| format!("{name} : {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|items| format!("[ {} ]", items.join(" ,\n"))),
            prop::collection::vec(member, 0..6).prop_map(|members| format!("{{\t{}}}", members.join(", "))),
        ]
    })
}

proptest! {
    #[test]
    fn one_pass_writes_what_the_tree_would(json in json()) {
        prop_assert_eq!(everything(&json).unwrap(), by_tree(&json));
    }
}

/// Leaves out members named `x`, and arrays named `a`.
struct Few;

impl Choose for Few {
    type Place = bool;

    fn member(&mut self, _: bool, name: &str) -> Option<bool> {
        (name != "x").then_some(name == "a")
    }

    fn element(&mut self, _: bool) -> bool {
        false
    }

    fn keeps(&mut self, named_a: bool, shape: Shape<'_>) -> bool {
        !(named_a && shape == Shape::Array || shape == Shape::Text("no"))
    }
}

fn few(json: &str) -> String {
    let mut out = String::new();
    rewrite(json, &mut Few, false, &mut out).unwrap();
    out
}

#[test]
fn what_is_not_chosen_leaves_neither_a_trace_nor_a_comma() {
    assert_eq!(few(r#"{"x":1,"a":[1],"b":{"a":[2],"x":[]},"c":"no","d":["no",1,"no"]}"#), r#"{"b":{},"d":[1]}"#);
    assert_eq!(few(r#""no""#), "");
    // The last of one name counts, also if it is not kept.
    assert_eq!(few(r#"{"c":1,"b":2,"a":3,"a":[4],"c":"no"}"#), r#"{"b":2}"#);
    assert_eq!(few(r#"{"a":[4],"a":3}"#), r#"{"a":3}"#);
}

#[test]
fn a_text_that_is_no_json_or_has_no_bottom_is_refused() {
    for bad in ["", "{", r#"{"a":1}}"#, "[1,]", "1e999"] {
        assert!(everything(bad).is_err(), "{bad}");
    }
    assert!(everything(&format!("{}{}", "[".repeat(1000), "]".repeat(1000))).is_err());
    let value: Value = serde_json::from_str("[]").unwrap();
    assert_eq!(everything("[]").unwrap(), value.to_string());
}
