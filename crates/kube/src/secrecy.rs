//! What of other people's error texts may be shown: libraries quote the file that they could not read, the output of a
//! program that failed, or the address that they could not reach, and each can hold credentials.

use std::error::Error as StdError;

use kube::client::AuthError;
use kube::config::KubeconfigError;

/// An address without the name and the password in it, and without what is asked of it.
pub(crate) fn without_credentials(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    // A password that should have been encoded can hold anything but is before the last @.
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let rest = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

/// What went wrong with a kubeconfig: a parser that quotes lines and values is told by place and complaint only.
pub(crate) fn of_kubeconfig(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(parse) => format!("failed to parse kubeconfig YAML: {}", place(parse.as_ref())),
        other => other.to_string(),
    }
}

/// Why there are no credentials, if that is what a cause says.
pub(crate) fn of_credentials(cause: &(dyn StdError + 'static)) -> Option<String> {
    let error = match cause.downcast_ref::<kube::Error>() {
        Some(kube::Error::Auth(error)) => error,
        _ => cause.downcast_ref::<AuthError>()?,
    };
    Some(match error {
        AuthError::AuthExecStart(io) => format!("the plugin could not be started: {io}"),
        // Its command line, its environment and its output are in the error, and a token can be in each.
        AuthError::AuthExecRun { out, .. } => {
            format!("the plugin failed ({}); run it by hand to see what it says", out.status)
        }
        AuthError::AuthExecParse(parse) => {
            format!("what the plugin printed is no ExecCredential: {}", place(parse.as_ref()))
        }
        AuthError::AuthExec(_) | AuthError::ParseTokenKey(_) => {
            "the auth-provider of the kubeconfig gives no token; use a plugin (exec) instead".to_owned()
        }
        // Their texts name files and kinds of mistakes.
        AuthError::ReadTokenFile(..)
        | AuthError::ExecPluginFailed
        | AuthError::MissingCommand
        | AuthError::ExecMissingClusterInfo
        | AuthError::UnrefreshableTokenResponse
        | AuthError::NoValidNativeRootCA(_) => error.to_string(),
        AuthError::InvalidBasicAuth(_) | AuthError::InvalidBearerToken(_) => {
            "the token or the password holds characters that no header can carry".to_owned()
        }
        AuthError::MalformedTokenExpirationDate(_) => "the plugin's expirationTimestamp is no time".to_owned(),
        _ => "they could not be had".to_owned(),
    })
}

/// The first line of a parser's complaint, without what it quotes.
fn place(error: &dyn StdError) -> String {
    let text = error.to_string();
    let mut shown = String::new();
    let mut quoted: Option<char> = None;
    for char in text.lines().next().unwrap_or_default().chars() {
        match quoted {
            Some(end) if char == end => {
                shown.push('…');
                quoted = None;
            }
            Some(_) => {}
            None if matches!(char, '"' | '`') => quoted = Some(char),
            None => shown.push(char),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_loses_name_password_and_query() {
        for (address, shown) in [
            ("https://ada:secret@host:6443/", "https://host:6443"),
            ("https://ada:se/cr@et@host/path", "https://host/path"),
            ("ada:secret@host", "host"),
            ("http://host:9090/prometheus?token=secret", "http://host:9090/prometheus"),
            ("http://host:9090", "http://host:9090"),
        ] {
            assert_eq!(without_credentials(address), shown);
        }
    }

    #[test]
    fn a_complaint_keeps_its_place_and_loses_what_it_quotes() {
        #[derive(Debug, thiserror::Error)]
        #[error("{0}")]
        struct Complaint(&'static str);
        let text = "error: line 5 column 12: invalid type: string \"secret\", expected `a` or 3\n5 | token: secret\n";
        assert_eq!(place(&Complaint(text)), "error: line 5 column 12: invalid type: string …, expected … or 3");
        assert_eq!(place(&Complaint("cut \"off")), "cut ");
    }
}
