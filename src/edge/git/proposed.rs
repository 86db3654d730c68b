//! Whether the code that runs here is only proposed: on behalf of a pull request, whoever wrote it.
//!
//! A history that proposals could write to would be anybody's.
#![expect(
    clippy::disallowed_methods,
    reason = "CI services tell in environment variables and a file"
)]

/// Why this run counts as one of a pull request, as `NAME is VALUE`; `None` if nothing says so.
#[must_use]
pub fn proposed() -> Option<String> {
    let read = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let event = || std::fs::read_to_string(read("GITHUB_EVENT_PATH")?).ok();
    says_so(read, event)
}

/// Variables that exist only for pull requests, and those that exist always with what they then say.
const SIGNS: [(&str, &[&str]); 12] = [
    ("CI_MERGE_REQUEST_IID", &[]),
    ("CI_EXTERNAL_PULL_REQUEST_IID", &[]),
    ("BUILDKITE_PULL_REQUEST", &["false"]),
    ("CIRCLE_PULL_REQUEST", &[]),
    ("CIRRUS_PR", &[]),
    ("TRAVIS_PULL_REQUEST", &["false"]),
    ("APPVEYOR_PULL_REQUEST_NUMBER", &[]),
    ("SYSTEM_PULLREQUEST_PULLREQUESTID", &[]),
    ("BITBUCKET_PR_ID", &[]),
    ("DRONE_PULL_REQUEST", &[]),
    ("CHANGE_ID", &[]),
    ("SEMAPHORE_GIT_PR_NUMBER", &[]),
];

fn says_so(read: impl Fn(&str) -> Option<String>, event: impl Fn() -> Option<String>) -> Option<String> {
    let is = |name: &str, value: &str| format!("{name} is {value}");
    if let Some(name) = read("GITHUB_EVENT_NAME") {
        if name.starts_with("pull_request") || name.starts_with("issue_comment") {
            return Some(is("GITHUB_EVENT_NAME", &name));
        }
        // What another workflow made of a pull request is a pull request's.
        if name == "workflow_run" {
            let event: serde_json::Value = serde_json::from_str(&event()?).ok()?;
            let of = event.get("workflow_run")?.get("event")?.as_str()?;
            return of
                .starts_with("pull_request")
                .then(|| is("the event of the workflow_run", of));
        }
    }
    if let Some(name) = read("GITHUB_REF").filter(|name| name.starts_with("refs/pull/")) {
        return Some(is("GITHUB_REF", &name));
    }
    SIGNS.iter().find_map(|(name, unless)| {
        let value = read(name)?;
        (!unless.contains(&value.as_str())).then(|| is(name, &value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, &str)], event: &str) -> Option<String> {
        let read = |name: &str| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        says_so(read, || Some(event.to_owned()))
    }

    #[test]
    fn pull_requests_of_all_kinds_are_told_from_pushes() {
        let run = |of: &str| format!(r#"{{"workflow_run":{{"event":"{of}"}}}}"#);
        for (variables, event, expected) in [
            (
                &[("GITHUB_EVENT_NAME", "pull_request")][..],
                "",
                Some("GITHUB_EVENT_NAME is pull_request"),
            ),
            (
                &[("GITHUB_EVENT_NAME", "pull_request_target")],
                "",
                Some("GITHUB_EVENT_NAME is pull_request_target"),
            ),
            (
                &[("GITHUB_EVENT_NAME", "workflow_run")],
                &run("pull_request"),
                Some("the event of the workflow_run is pull_request"),
            ),
            (&[("GITHUB_EVENT_NAME", "workflow_run")], &run("push"), None),
            (&[("GITHUB_EVENT_NAME", "push")], "", None),
            (
                &[("GITHUB_EVENT_NAME", "push"), ("GITHUB_REF", "refs/pull/7/merge")],
                "",
                Some("GITHUB_REF is refs/pull/7/merge"),
            ),
            (
                &[("CI_MERGE_REQUEST_IID", "3")],
                "",
                Some("CI_MERGE_REQUEST_IID is 3"),
            ),
            (
                &[
                    ("BUILDKITE_PULL_REQUEST", "false"),
                    ("TRAVIS_PULL_REQUEST", "false"),
                ],
                "",
                None,
            ),
            (
                &[("BUILDKITE_PULL_REQUEST", "12")],
                "",
                Some("BUILDKITE_PULL_REQUEST is 12"),
            ),
            (&[], "", None),
        ] {
            assert_eq!(
                told(variables, event).as_deref(),
                expected,
                "{variables:?} {event}"
            );
        }
    }
}
