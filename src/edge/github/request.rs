//! One request, and patience where it only asks.

use super::Github;
use super::error::GithubError;
use super::fate::{Fate, fate};
use serde_json::json;
use std::time::Duration;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// How often a request is made at most. Chosen: with the pauses between them, half a minute.
const ATTEMPTS: u32 = 6;
/// How long one request may take. Chosen.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Most bytes of an answer: a hundred comments of 65,536 characters, four bytes each, escaped.
const MOST_BYTES: u64 = 64 << 20;
/// Characters of what GitHub says in a message.
const LONGEST_WORDS: usize = 200;

/// What is asked of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Call {
    verb: Verb,
    path: String,
    pub(super) query: Vec<(&'static str, String)>,
    /// The Markdown of a comment.
    body: Option<String>,
    /// A verb with its object, for messages.
    pub(super) doing: &'static str,
}

/// An answer, with what matters of its headers.
#[derive(Debug, Clone, Default)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// Seconds to wait before another request.
    pub(super) retry_after_s: Option<u64>,
    /// Requests left in this hour.
    pub(super) remaining: Option<u64>,
    /// When the hour ends, in seconds since 1970.
    pub(super) reset_s: Option<u64>,
    /// Whether a list has another page.
    pub(super) has_next: bool,
    pub(super) body: String,
}

impl Call {
    pub(super) fn new(verb: Verb, path: String, doing: &'static str) -> Self {
        Self {
            verb,
            path,
            query: Vec::new(),
            body: None,
            doing,
        }
    }

    /// With the Markdown of a comment.
    pub(super) fn saying(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }

    fn json(&self) -> serde_json::Value {
        json!({ "body": self.body })
    }
}

impl Reply {
    /// The answer as what it should be.
    pub(super) fn read<T: serde::de::DeserializeOwned>(&self, doing: &'static str) -> Result<T, GithubError> {
        serde_json::from_str(&self.body).map_err(|error| GithubError::Answer {
            doing,
            what: words(&error.to_string()),
        })
    }

    /// What GitHub says about a failure.
    fn said(&self) -> String {
        let value: Option<serde_json::Value> = serde_json::from_str(&self.body).ok();
        let message = value.as_ref().and_then(|value| value.get("message")?.as_str());
        words(message.unwrap_or("no reason was given"))
    }
}

impl Github {
    /// Makes a request, and one that only asks again where that may help.
    pub(super) fn call(&self, call: &Call) -> Result<Reply, GithubError> {
        let mut attempt = 1;
        loop {
            match self.once(call) {
                Err(failure) if call.verb == Verb::Get && attempt < ATTEMPTS => {
                    self.wait_out(failure, attempt)?
                }
                other => return other,
            }
            attempt += 1;
        }
    }

    fn once(&self, call: &Call) -> Result<Reply, GithubError> {
        let doing = call.doing;
        match self.exchange(call) {
            Ok(reply) => match fate(&reply, (self.time.now_s)()) {
                Fate::Answered => Ok(reply),
                Fate::Later(told) => {
                    let said = format!("status {}, \"{}\"", reply.status, reply.said());
                    Err(GithubError::Busy { doing, said, told })
                }
                Fate::Forbidden => {
                    let said = reply.said();
                    Err(GithubError::ReadOnly { doing, said })
                }
                Fate::Refused => {
                    let (status, said) = (reply.status, reply.said());
                    Err(GithubError::Refused { doing, status, said })
                }
            },
            Err(error) => {
                let said = words(&error.to_string());
                Err(if may_pass(&error) {
                    let told = None;
                    GithubError::Busy { doing, said, told }
                } else {
                    GithubError::Unreachable { doing, said }
                })
            }
        }
    }

    fn exchange(&self, call: &Call) -> Result<Reply, ureq::Error> {
        let url = format!("{}{}", self.api, call.path);
        let url = url.as_str();
        let mut response = match call.verb {
            Verb::Get => self.prepared(self.agent.get(url), call).call(),
            Verb::Delete => self.prepared(self.agent.delete(url), call).call(),
            Verb::Post => self.prepared(self.agent.post(url), call).send_json(call.json()),
            Verb::Patch => self.prepared(self.agent.patch(url), call).send_json(call.json()),
        }?;
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let number = |name: &str| -> Option<u64> { header(name)?.trim().parse().ok() };
        let reply = Reply {
            status: response.status().as_u16(),
            retry_after_s: number("retry-after"),
            remaining: number("x-ratelimit-remaining"),
            reset_s: number("x-ratelimit-reset"),
            has_next: header("link").is_some_and(|links| links.contains("rel=\"next\"")),
            body: String::new(),
        };
        let body = response
            .body_mut()
            .with_config()
            .limit(MOST_BYTES)
            .lossy_utf8(true)
            .read_to_string()?;
        Ok(Reply { body, ..reply })
    }

    fn prepared<B>(&self, builder: ureq::RequestBuilder<B>, call: &Call) -> ureq::RequestBuilder<B> {
        let builder = builder
            .header("Authorization", self.authorization.clone())
            .header("Accept", "application/vnd.github+json")
            .header("X-GitHub-Api-Version", "2022-11-28");
        call.query
            .iter()
            .fold(builder, |builder, (name, value)| builder.query(name, value))
    }
}

/// What makes the requests: it hands every status on, and follows no redirect, so that the token stays where it
/// belongs. A server on this machine is asked directly, any other one as the environment says (`HTTPS_PROXY` and its
/// like).
pub(super) fn agent(api: &str, roots: Option<&[u8]>) -> ureq::Agent {
    let mut tls = TlsConfig::builder();
    if let Some(pem) = roots {
        let certificates = parse_pem(pem).filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        });
        tls = tls.root_certs(RootCerts::from(certificates.collect::<Vec<_>>()));
    }
    let mut config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(TIMEOUT))
        .user_agent(concat!("abreast/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls.build());
    if is_local(api) {
        config = config.proxy(None);
    }
    config.build().new_agent()
}

fn is_local(api: &str) -> bool {
    let place = api.split_once("://").map_or(api, |(_, place)| place);
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|local| {
        place
            .strip_prefix(local)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    })
}

/// Whether a failure has to do with the moment, and not with what was asked or how.
fn may_pass(error: &ureq::Error) -> bool {
    matches!(
        error,
        ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Protocol(_)
    )
}

/// Somebody else's words in one line, without anything that moves a cursor, and not too many.
fn words(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    text.chars().take(LONGEST_WORDS).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_local() {
        for local in ["http://127.0.0.1:8080", "http://localhost", "http://[::1]/api"] {
            assert!(is_local(local), "{local}");
        }
        for other in [
            "https://api.github.example",
            "https://localhost.example",
            "http://127.0.0.1.example",
        ] {
            assert!(!is_local(other), "{other}");
        }
    }
}
