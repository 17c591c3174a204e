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

/// Where a parser stopped and what kind of mistake it was: all that comes after may be what stands in the file.
fn place(error: &dyn StdError) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let at = position(line);
    let kind = match at.and_then(|at| line.strip_prefix(at)) {
        Some(rest) => rest.trim_start_matches(": "),
        None => line,
    };
    let kind = kind.split([':', '"', '`', '\'', ',']).next().unwrap_or_default();
    let kind = kind.split(" at line ").next().unwrap_or_default().trim();
    match at {
        Some(at) if kind.is_empty() => at.to_owned(),
        Some(at) => format!("{at}: {kind}"),
        None => kind.to_owned(),
    }
}

/// `line 5 column 12`, wherever it stands.
fn position(line: &str) -> Option<&str> {
    let number = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    line.match_indices("line ").find_map(|(from, word)| {
        let after = from + word.len();
        let digits = number(line.get(after..)?);
        let column = line.get(after + digits..)?.strip_prefix(" column ")?;
        let end = line.len() - column.len() + number(column);
        (digits > 0 && number(column) > 0).then(|| line.get(from..end)).flatten()
    })
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
        for (text, shown) in [
            (
                "error: line 5 column 12: invalid type: string \"secret\", expected `a` or 3\n5 | token: secret\n",
                "line 5 column 12: invalid type",
            ),
            (
                "line 2 column 1: duplicate mapping key: secret, set DuplicateKeyPolicy",
                "line 2 column 1: duplicate mapping key",
            ),
            (
                "invalid type: string \"a\\\"secret\\\"b\", expected a map at line 1 column 9",
                "line 1 column 9: invalid type",
            ),
            ("missing field `secret` at line 7 column 2", "line 7 column 2: missing field"),
            ("EOF while parsing a string at line 1 column 6", "line 1 column 6: EOF while parsing a string"),
            ("cut \"off secret", "cut"),
        ] {
            assert_eq!(place(&Complaint(text)), shown);
        }
    }
}
