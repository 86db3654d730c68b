//! GitHub's REST API, as far as a comment on a pull request needs it, and the runner that a job runs on.
//!
//! Requests go to one server only, with the token in a header and nowhere else: no redirect is followed, and no address
//! that an answer names is ever asked.

mod error;
mod fate;
mod request;
mod runner;
mod time;

pub use self::error::GithubError;
pub use self::runner::Runner;
pub use self::time::Time;

use self::request::{Call, Verb, agent};
use crate::pull_request::{Head, Posted, PullRequest};
use serde::Deserialize;
use std::cell::Cell;
use std::time::Duration;
use ureq::http::HeaderValue;

/// Comments asked for at once, GitHub's most.
const PER_PAGE: usize = 100;
/// Most pages that are read: GitHub takes no more than 2,500 comments on a pull request by itself. Chosen.
const MOST_PAGES: usize = 100;
/// Longest that a job is kept waiting for GitHub, all together. Chosen.
const LONGEST_WAIT: Duration = Duration::from_secs(180);

/// What it takes to ask.
pub struct Access {
    /// Where the API is: `https://api.github.com`, or that of a server of one's own.
    pub api: String,
    /// Repository as `owner/name`.
    pub repository: String,
    /// Token. It is sent and never shown.
    pub token: String,
    /// Certificates to trust instead of the usual ones, as PEM.
    pub roots: Option<Vec<u8>>,
}

/// The API of one repository.
pub struct Github {
    agent: ureq::Agent,
    /// Without a slash at its end.
    api: String,
    repository: String,
    authorization: HeaderValue,
    time: Time,
    /// How long GitHub was waited for until now.
    waited: Cell<Duration>,
}

impl Github {
    /// Access to a repository.
    ///
    /// # Errors
    /// [`GithubError::Setting`] for a repository, an address or a token that cannot be one.
    pub fn new(access: Access, time: Time) -> Result<Self, GithubError> {
        let Access {
            api,
            repository,
            token,
            roots,
        } = access;
        if !is_repository(&repository) {
            return Err(GithubError::setting("GITHUB_REPOSITORY", "is not `owner/name`"));
        }
        if !(api.starts_with("https://") || api.starts_with("http://")) {
            return Err(GithubError::setting(
                "GITHUB_API_URL",
                "begins neither with https:// nor with http://",
            ));
        }
        let mut authorization = HeaderValue::from_str(&format!("Bearer {}", token.trim()))
            .map_err(|_| GithubError::setting("the token", "has characters that no token has"))?;
        authorization.set_sensitive(true);
        Ok(Self {
            agent: agent(&api, roots.as_deref()),
            api: api.trim_end_matches('/').to_owned(),
            repository,
            authorization,
            time,
            waited: Cell::default(),
        })
    }

    /// Login of the token's user; absent for a token of an app or of a workflow, which has none.
    ///
    /// # Errors
    /// [`GithubError`], if the token is refused or nobody answers.
    pub fn login(&self) -> Result<Option<String>, GithubError> {
        let call = Call::new(Verb::Get, "/user".to_owned(), "ask whose token this is");
        match self.ask::<GUser>(&call) {
            Ok(user) => Ok(Some(user.login)),
            Err(GithubError::ReadOnly { .. } | GithubError::Refused { status: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A pull request; `None` if the token may not see it.
    ///
    /// # Errors
    /// [`GithubError`].
    pub fn pull_request(&self, number: u64) -> Result<Option<PullRequest>, GithubError> {
        let path = self.path(&format!("pulls/{number}"));
        match self.ask::<GPull>(&Call::new(Verb::Get, path, "read the pull request")) {
            Ok(pull) => Ok(Some(pull.into())),
            Err(GithubError::ReadOnly { .. } | GithubError::Refused { status: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Open pull requests whose head is the branch of that name in that owner's repository; none if it is deleted.
    ///
    /// # Errors
    /// [`GithubError`].
    pub fn pull_requests_from(&self, head: &Head) -> Result<Vec<PullRequest>, GithubError> {
        let Some(owner) = head.owner() else {
            return Ok(Vec::new());
        };
        let query = [
            ("state", "open".to_owned()),
            ("head", format!("{owner}:{}", head.branch)),
        ];
        let pulls: Vec<GPull> = self.all("pulls", &query, "look for the pull request")?;
        Ok(pulls.into_iter().map(PullRequest::from).collect())
    }

    /// All comments on a pull request.
    ///
    /// # Errors
    /// [`GithubError`].
    pub fn comments(&self, number: u64) -> Result<Vec<Posted>, GithubError> {
        let path = format!("issues/{number}/comments");
        let comments: Vec<GComment> = self.all(&path, &[], "read the comments of the pull request")?;
        Ok(comments.into_iter().map(Posted::from).collect())
    }

    /// Makes a comment. Like everything that writes it is tried once: an answer that was lost may have been a yes, and
    /// what it was decided from is old by the time that it can be tried again.
    ///
    /// # Errors
    /// [`GithubError`]; see [`Github::wait_out`].
    pub fn create(&self, number: u64, body: &str) -> Result<Posted, GithubError> {
        let path = self.path(&format!("issues/{number}/comments"));
        let call = Call::new(Verb::Post, path, "make a comment").saying(body);
        Ok(self.ask::<GComment>(&call)?.into())
    }

    /// Changes a comment, once; says whether it was still there.
    ///
    /// # Errors
    /// [`GithubError`]; see [`Github::wait_out`].
    pub fn edit(&self, id: u64, body: &str) -> Result<bool, GithubError> {
        let path = self.path(&format!("issues/comments/{id}"));
        still_there(self.call(&Call::new(Verb::Patch, path, "change the comment").saying(body)))
    }

    /// Removes a comment, once; says whether it was still there.
    ///
    /// # Errors
    /// [`GithubError`]; see [`Github::wait_out`].
    pub fn delete(&self, id: u64) -> Result<bool, GithubError> {
        let path = self.path(&format!("issues/comments/{id}"));
        still_there(self.call(&Call::new(Verb::Delete, path, "remove a second comment")))
    }

    /// Waits until what failed may be tried again: as long as GitHub asks for, or longer after each of `failures`,
    /// which is at least 1.
    ///
    /// # Errors
    /// The failure itself if trying again makes no sense; [`GithubError::Limited`] if all waits together would take
    /// longer than a job may be kept.
    pub fn wait_out(&self, failure: GithubError, failures: u32) -> Result<(), GithubError> {
        let GithubError::Busy { doing, told, .. } = failure else {
            return Err(failure);
        };
        let pause = told.unwrap_or_else(|| Duration::from_secs(1 << failures.saturating_sub(1).min(6)));
        let waited = self.waited.get().saturating_add(pause);
        if waited > LONGEST_WAIT {
            return Err(match told {
                Some(_) => GithubError::Limited {
                    doing,
                    seconds: pause.as_secs(),
                },
                None => failure,
            });
        }
        self.waited.set(waited);
        self.pause(pause);
        Ok(())
    }

    /// Waits.
    pub fn pause(&self, time: Duration) {
        (self.time.wait)(time);
    }

    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{rest}", self.repository)
    }

    /// Every page of a list.
    fn all<T: serde::de::DeserializeOwned>(
        &self,
        rest: &str,
        query: &[(&'static str, String)],
        doing: &'static str,
    ) -> Result<Vec<T>, GithubError> {
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let mut call = Call::new(Verb::Get, self.path(rest), doing);
            call.query.extend_from_slice(query);
            call.query.push(("per_page", PER_PAGE.to_string()));
            call.query.push(("page", page.to_string()));
            let reply = self.call(&call)?;
            let found: Vec<T> = reply.read(doing)?;
            let is_last = found.is_empty() || (found.len() < PER_PAGE && !reply.has_next);
            all.extend(found);
            if is_last {
                return Ok(all);
            }
        }
        let what = format!("more than {MOST_PAGES} pages");
        Err(GithubError::Answer { doing, what })
    }

    fn ask<T: serde::de::DeserializeOwned>(&self, call: &Call) -> Result<T, GithubError> {
        self.call(call)?.read(call.doing)
    }
}

fn still_there(answer: Result<request::Reply, GithubError>) -> Result<bool, GithubError> {
    match answer {
        Ok(_) => Ok(true),
        Err(GithubError::Refused {
            status: 404 | 410, ..
        }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Two names that are parts of a path and nothing else.
fn is_repository(text: &str) -> bool {
    let is_name = |name: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        !name.is_empty() && !matches!(name, "." | "..") && name.bytes().all(allowed)
    };
    text.split_once('/')
        .is_some_and(|(owner, name)| is_name(owner) && is_name(name))
}

/// GitHub's own words begin with a G; whatever else its answers hold is passed over.
#[derive(Deserialize)]
struct GUser {
    login: String,
}

#[derive(Deserialize)]
struct GComment {
    id: u64,
    body: Option<String>,
    user: Option<GUser>,
}

#[derive(Deserialize)]
struct GPull {
    number: u64,
    head: GHead,
}

#[derive(Deserialize)]
struct GHead {
    #[serde(rename = "ref", default)]
    branch: String,
    sha: String,
    repo: Option<GRepository>,
}

#[derive(Deserialize)]
struct GRepository {
    full_name: String,
}

impl From<GComment> for Posted {
    fn from(comment: GComment) -> Self {
        Self {
            id: comment.id,
            author: comment.user.map(|user| user.login),
            body: comment.body.unwrap_or_default(),
        }
    }
}

impl From<GPull> for PullRequest {
    fn from(pull: GPull) -> Self {
        Self {
            number: pull.number,
            head: Head {
                repository: pull.head.repo.map(|repository| repository.full_name),
                branch: pull.head.branch,
                sha: pull.head.sha,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(api: &str, repository: &str, token: &str) -> Result<Github, GithubError> {
        let access = Access {
            api: api.to_owned(),
            repository: repository.to_owned(),
            token: token.to_owned(),
            roots: None,
        };
        Github::new(access, Time::real())
    }

    fn refusal(made: Result<Github, GithubError>) -> String {
        match made {
            Ok(_) => panic!("it was accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_cannot_be_a_repository_or_a_token_is_refused_and_the_token_not_shown() {
        let api = "https://api.github.example/";
        let github = access(api, "an-owner/a.name_1", "secret\n").unwrap();
        assert_eq!(github.path("pulls/7"), "/repos/an-owner/a.name_1/pulls/7");
        assert_eq!(github.api, "https://api.github.example");
        assert_eq!(format!("{:?}", github.authorization), "Sensitive");
        for repository in ["", "name", "a/b/c", "a/..", "a/b?c", "a/ b", "/b"] {
            assert!(refusal(access(api, repository, "t")).contains("GITHUB_REPOSITORY"));
        }
        assert!(refusal(access("ftp://x", "a/b", "t")).contains("GITHUB_API_URL"));
        let said = refusal(access(api, "a/b", "sec\nret"));
        assert!(said.contains("the token") && !said.contains("sec"), "{said}");
    }
}
