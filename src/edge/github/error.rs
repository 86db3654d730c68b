//! What can go wrong between here and GitHub, each as a sentence that ends with what to do.

use std::path::PathBuf;
use std::time::Duration;

/// Why something could not be asked or done. None of it holds the token.
#[derive(Debug, thiserror::Error)]
pub enum GithubError {
    /// Something that the runner should have said.
    #[error("{name} {wrong}: a workflow has it set; elsewhere set it, or say it with a flag")]
    Setting {
        /// The variable, or what it is.
        name: String,
        /// What is wrong with it.
        wrong: &'static str,
    },
    /// There is no token.
    #[error(
        "there is no token in {variable}: give the step `env: {variable}: ${{{{ github.token }}}}`, or name another \
         variable with --token-env"
    )]
    NoToken {
        /// The variable.
        variable: String,
    },
    /// The token may read, and that is all.
    #[error(
        "GitHub does not let this token {doing} (\"{said}\"): give the job `permissions: pull-requests: write`; for pull \
         requests from forks, which never have it, docs/github.md has two workflows"
    )]
    ReadOnly {
        /// A verb with its object.
        doing: &'static str,
        /// GitHub's words.
        said: String,
    },
    /// Anything else that GitHub says no to.
    #[error("GitHub refused to {doing}: status {status}, \"{said}\"{}", hint(*status))]
    Refused {
        /// A verb with its object.
        doing: &'static str,
        /// HTTP status.
        status: u16,
        /// GitHub's words.
        said: String,
    },
    /// It did not work, and may work later.
    #[error("could not {doing}: {said}. Start the job again later")]
    Busy {
        /// A verb with its object.
        doing: &'static str,
        /// What was said last.
        said: String,
        /// How long it must not be tried again, as far as GitHub told.
        told: Option<Duration>,
    },
    /// There were too many requests, and nobody may wait so long.
    #[error("could not {doing}: GitHub asks to wait {seconds} s. Start the job again after that")]
    Limited {
        /// A verb with its object.
        doing: &'static str,
        /// How long, from then on.
        seconds: u64,
    },
    /// There is no way to the server.
    #[error("could not {doing}: {said}: see whether GITHUB_API_URL is right and can be reached from here")]
    Unreachable {
        /// A verb with its object.
        doing: &'static str,
        /// What the connection says.
        said: String,
    },
    /// The answer is none.
    #[error("could not {doing}: the answer makes no sense ({what}): see whether GITHUB_API_URL is GitHub's")]
    Answer {
        /// A verb with its object.
        doing: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// A file of the runner.
    #[error("{path} could not be {what}: {source}")]
    File {
        /// File.
        path: PathBuf,
        /// `read` or `written`.
        what: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
}

impl GithubError {
    pub(super) fn setting(name: &str, wrong: &'static str) -> Self {
        Self::Setting {
            name: name.to_owned(),
            wrong,
        }
    }
}

/// What to do about a status, where that is known.
fn hint(status: u16) -> &'static str {
    match status {
        401 => ". The token is not valid: see what the variable named by --token-env holds",
        404 => {
            ". See whether GITHUB_REPOSITORY and the number of the pull request are right, and whether the token may see them"
        }
        422 => ". GitHub does not take it as it is: this is a defect of abreast; please report it",
        300..=399 => ". The repository has moved: name where it is now in GITHUB_REPOSITORY",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_do() {
        let refused = |status| GithubError::Refused {
            doing: "make a comment",
            status,
            said: "Not Found".to_owned(),
        };
        let text = refused(404).to_string();
        let begin = "GitHub refused to make a comment: status 404, \"Not Found\". See whether";
        assert!(text.starts_with(begin), "{text}");
        assert!(refused(401).to_string().contains("--token-env"));
        assert!(refused(418).to_string().ends_with("\"Not Found\""));
        let none = GithubError::NoToken {
            variable: "GITHUB_TOKEN".to_owned(),
        };
        let step = "`env: GITHUB_TOKEN: ${{ github.token }}`";
        assert!(none.to_string().contains(step), "{none}");
    }
}
