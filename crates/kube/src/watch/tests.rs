//! What each kind of event does to the place in history.

use super::*;

fn event(text: &str) -> Event<'_> {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_error_410_means_that_history_is_gone_and_others_only_a_pause() {
    let mut at = "5".to_owned();
    let gone = event(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}"#);
    assert_eq!(said(Kind::Pod, &gone, &mut at).unwrap_err(), Ended::HistoryGone);
    let other = event(r#"{"type":"ERROR","object":{"kind":"Status","code":500}}"#);
    assert_eq!(said(Kind::Pod, &other, &mut at).unwrap_err(), Ended::Failed(None));
    assert_eq!(at, "5");
}

#[test]
fn a_bookmark_moves_the_place_and_says_nothing() {
    let mut at = "5".to_owned();
    let bookmark = event(r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}"#);
    assert!(said(Kind::Pod, &bookmark, &mut at).unwrap().is_none());
    assert_eq!(at, "9");
}

#[test]
fn a_deletion_names_the_object() {
    let mut at = "5".to_owned();
    let text = r#"{"type":"DELETED","object":{"metadata":{"namespace":"a","name":"b","resourceVersion":"7"}}}"#;
    let delta = said(Kind::Pod, &event(text), &mut at).unwrap();
    assert!(matches!(delta, Some(Delta::Remove(Kind::Pod, key)) if key == Key::new("a", "b")));
    assert_eq!(at, "7");
}
