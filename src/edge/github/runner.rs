//! What a GitHub runner says about the job, and the files it reads afterwards.
#![expect(
    clippy::disallowed_methods,
    reason = "a job is described by environment variables and a file"
)]

use super::error::GithubError;
use crate::pull_request::{Run, Trigger};
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// GitHub's own servers, where nothing else is said.
const API: &str = "https://api.github.com";
const SERVER: &str = "https://github.com";

/// The runner's description of the job. What is absent was not said: outside of GitHub Actions, everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runner {
    /// `GITHUB_API_URL`: where the API is.
    pub api: String,
    /// `GITHUB_SERVER_URL`: where the pages are.
    pub server: String,
    /// `GITHUB_REPOSITORY`: `owner/name`.
    pub repository: Option<String>,
    /// `GITHUB_JOB`: id of the job in its workflow.
    pub job: Option<String>,
    /// The event that started it.
    pub trigger: Trigger,
    /// `SSL_CERT_FILE`: certificates to trust instead of the usual ones.
    roots: Option<PathBuf>,
    /// `GITHUB_STEP_SUMMARY`: file for Markdown that the page of the run shows.
    summary: Option<PathBuf>,
    /// `GITHUB_OUTPUT`: file for outputs of this step.
    output: Option<PathBuf>,
}

impl Runner {
    /// Reads the environment of this process.
    #[must_use]
    pub fn from_env() -> Self {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads variables of the environment by name. Empty values, and an event file that is absent or not JSON, are
    /// absent.
    #[must_use]
    pub fn read(environment: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| environment(name).filter(|value| !value.is_empty());
        let number = |name: &str| -> Option<u64> { variable(name)?.parse().ok() };
        let event = variable("GITHUB_EVENT_PATH").and_then(|path| event(Path::new(&path)));
        let run = Run {
            id: number("GITHUB_RUN_ID"),
            number: number("GITHUB_RUN_NUMBER"),
            attempt: number("GITHUB_RUN_ATTEMPT"),
        };
        let (name, reference) = (variable("GITHUB_EVENT_NAME"), variable("GITHUB_REF"));
        Self {
            api: variable("GITHUB_API_URL").unwrap_or_else(|| API.to_owned()),
            server: variable("GITHUB_SERVER_URL").unwrap_or_else(|| SERVER.to_owned()),
            repository: variable("GITHUB_REPOSITORY"),
            job: variable("GITHUB_JOB"),
            trigger: Trigger::read(
                name.as_deref(),
                reference.as_deref(),
                &event.unwrap_or(Value::Null),
                run,
            ),
            roots: variable("SSL_CERT_FILE").map(PathBuf::from),
            summary: variable("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            output: variable("GITHUB_OUTPUT").map(PathBuf::from),
        }
    }

    /// What a variable of this process holds, which is named by the user and may be secret; absent if it is blank or no
    /// Unicode.
    #[must_use]
    pub fn secret(name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.trim().is_empty())
    }

    /// The certificates to trust instead of the usual ones, as PEM.
    ///
    /// # Errors
    /// [`GithubError::File`] if there should be some that cannot be read.
    pub fn roots(&self) -> Result<Option<Vec<u8>>, GithubError> {
        let Some(path) = &self.roots else {
            return Ok(None);
        };
        std::fs::read(path).map(Some).map_err(|source| GithubError::File {
            path: path.clone(),
            what: "read",
            source,
        })
    }

    /// Page of the run that measured; absent if it is not known, or would not be a plain address.
    #[must_use]
    pub fn page(&self) -> Option<String> {
        let (repository, id) = (self.repository.as_deref()?, self.trigger.run.id?);
        let address = format!("{}/{repository}/actions/runs/{id}", self.server);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/".contains(&byte);
        (address.starts_with("http") && address.bytes().all(plain)).then_some(address)
    }

    /// Adds Markdown to what the page of the run shows; says whether there is such a page.
    ///
    /// # Errors
    /// [`GithubError::File`] if it cannot be written.
    pub fn summarize(&self, markdown: &str) -> Result<bool, GithubError> {
        append(self.summary.as_deref(), &format!("{}\n\n", markdown.trim_end()))
    }

    /// Adds outputs of this step, which are one line each; says whether anybody reads them.
    ///
    /// # Errors
    /// [`GithubError::File`] if they cannot be written.
    pub fn output(&self, outputs: &[(&str, String)]) -> Result<bool, GithubError> {
        let lines: Vec<String> = outputs
            .iter()
            .map(|(name, value)| format!("{name}={}\n", value.replace(['\r', '\n'], " ")))
            .collect();
        append(self.output.as_deref(), &lines.concat())
    }
}

fn event(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn append(path: Option<&Path>, text: &str) -> Result<bool, GithubError> {
    let Some(path) = path else {
        return Ok(false);
    };
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map(|()| true)
        .map_err(|source| GithubError::File {
            path: path.to_owned(),
            what: "written",
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner(server: &str, repository: &str) -> Runner {
        let mut runner = Runner {
            server: server.to_owned(),
            repository: Some(repository.to_owned()),
            ..Runner::default()
        };
        runner.trigger.run.id = Some(900);
        runner
    }

    #[test]
    fn the_page_of_a_run_is_a_plain_address() {
        let page = runner("https://github.example:8443", "o/r").page();
        assert_eq!(
            page.as_deref(),
            Some("https://github.example:8443/o/r/actions/runs/900")
        );
        assert_eq!(runner("https://x) <b>", "o/r").page(), None);
        assert_eq!(runner("javascript:", "o/r").page(), None);
        assert_eq!(Runner::default().page(), None);
    }

    #[test]
    fn what_is_told_is_added_to_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let told = Runner {
            summary: Some(folder.path().join("summary")),
            output: Some(folder.path().join("output")),
            ..Runner::default()
        };
        assert!(told.summarize("one\n").unwrap() && told.summarize("two").unwrap());
        assert!(told.output(&[("verdict", "a\nb=c".to_owned())]).unwrap());
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("summary"), "one\n\ntwo\n\n");
        assert_eq!(read("output"), "verdict=a b=c\n");
        assert!(!Runner::default().summarize("nobody").unwrap());
    }

    #[test]
    fn an_event_that_is_garbage_is_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{").unwrap();
        assert_eq!(event(file.path()), None);
        assert_eq!(event(Path::new("there is none")), None);
    }
}
