//! A pull request as GitHub tells of it, and which one the event that started a job is about.
//!
//! GitHub names the pull request in most events. After another workflow's run (`workflow_run`) it does not if the head
//! is in a fork, and then the trusted facts are the repository, branch and commit of that head, never what its run
//! left behind.

use serde_json::Value;
use std::cmp::Ordering;

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Where its commits come from.
    pub head: Head,
}

/// Where the commits of a pull request come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Repository as `owner/name`; absent if it was deleted.
    pub repository: Option<String>,
    /// Branch there.
    pub branch: String,
    /// Newest commit there: full object id.
    pub sha: String,
}

/// A comment on a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// Its id; a later comment has a larger one.
    pub id: u64,
    /// Login of its author; absent if the account is gone.
    pub author: Option<String>,
    /// Its Markdown.
    pub body: String,
}

/// A run of a workflow. Absent numbers were not told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Id, unique in the repository; a run that was started later has a larger one.
    pub id: Option<u64>,
    /// Number among the runs of its workflow, from 1.
    pub number: Option<u64>,
    /// How often this run was started, from 1.
    pub attempt: Option<u64>,
}

/// The event that started a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trigger {
    /// Which pull request it is about.
    pub about: About,
    /// The run that measured: this one, or the one whose end is the event.
    pub run: Run,
}

/// What an event says about a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum About {
    /// Nothing.
    #[default]
    Nothing,
    /// Its number, and its newest commit at that time, if that is told.
    Number {
        /// Number.
        number: u64,
        /// Full object id.
        sha: Option<String>,
    },
    /// Another workflow's run ended.
    Upstream {
        /// What was checked out there.
        head: Head,
        /// Pull requests with that head, as far as GitHub tells: none if it is in a fork.
        numbers: Vec<u64>,
    },
}

/// What came of looking for the open pull request with some head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// It.
    One(PullRequest),
    /// It has a newer commit by now.
    Moved(PullRequest),
    /// Several have this head, and nothing tells which is meant.
    Several(Vec<u64>),
    /// There is none.
    None,
}

impl Run {
    /// Which of two runs was started later: by id, then number, then attempt, each as far as both are known.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        let known = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => Ordering::Equal,
        };
        known(self.id, other.id)
            .then(known(self.number, other.number))
            .then(known(self.attempt, other.attempt))
    }
}

impl Head {
    /// The account that the repository belongs to.
    #[must_use]
    pub fn owner(&self) -> Option<&str> {
        self.repository.as_deref()?.split('/').next()
    }
}

impl Trigger {
    /// Reads an event: its name (`GITHUB_EVENT_NAME`), the ref it is about (`GITHUB_REF`) and its description. `run`
    /// is the run of this job.
    #[must_use]
    pub fn read(name: Option<&str>, reference: Option<&str>, event: &Value, run: Run) -> Self {
        if name == Some("workflow_run") {
            return Self::upstream(event, run);
        }
        let number = |pointer: &str| event.pointer(pointer).and_then(Value::as_u64);
        let of_issue = || {
            let is_pull_request = event
                .pointer("/issue/pull_request")
                .is_some_and(|of| !of.is_null());
            number("/issue/number").filter(|_| is_pull_request)
        };
        let found = number("/pull_request/number")
            .or_else(of_issue)
            .or_else(|| number_of_ref(reference?));
        let about = match found {
            None => About::Nothing,
            Some(number) => About::Number {
                number,
                sha: text(event, "/pull_request/head/sha"),
            },
        };
        Self { about, run }
    }

    fn upstream(event: &Value, run: Run) -> Self {
        let number = |pointer: &str| event.pointer(pointer).and_then(Value::as_u64);
        let (branch, sha) = (
            text(event, "/workflow_run/head_branch"),
            text(event, "/workflow_run/head_sha"),
        );
        let (Some(branch), Some(sha)) = (branch, sha) else {
            let about = About::Nothing;
            return Self { about, run };
        };
        let listed = event
            .pointer("/workflow_run/pull_requests")
            .and_then(Value::as_array);
        let numbers = listed
            .into_iter()
            .flatten()
            .filter_map(|of| of.get("number")?.as_u64())
            .collect();
        Self {
            about: About::Upstream {
                head: Head {
                    repository: text(event, "/workflow_run/head_repository/full_name"),
                    branch,
                    sha,
                },
                numbers,
            },
            run: Run {
                id: number("/workflow_run/id"),
                number: number("/workflow_run/run_number"),
                attempt: number("/workflow_run/run_attempt"),
            },
        }
    }
}

/// The one of some open pull requests that has this head. `numbers` are those GitHub says it is of.
#[must_use]
pub fn choose(open: &[PullRequest], head: &Head, numbers: &[u64]) -> Choice {
    // A deleted repository equals no other, not even another deleted one.
    let same_place =
        |of: &Head| of.repository.is_some() && of.repository == head.repository && of.branch == head.branch;
    let of_branch: Vec<&PullRequest> = open.iter().filter(|of| same_place(&of.head)).collect();
    let current: Vec<&PullRequest> = of_branch
        .iter()
        .copied()
        .filter(|of| of.head.sha == head.sha)
        .collect();
    let meant: Vec<&PullRequest> = current
        .iter()
        .copied()
        .filter(|of| numbers.contains(&of.number))
        .collect();
    match (meant.as_slice(), current.as_slice(), of_branch.as_slice()) {
        ([one], _, _) | (_, [one], _) => Choice::One((*one).clone()),
        (_, [_, _, ..], _) => Choice::Several(current.iter().map(|of| of.number).collect()),
        (_, [], [moved, ..]) => Choice::Moved((*moved).clone()),
        (_, [], []) => Choice::None,
    }
}

/// `refs/pull/7/merge` is about number 7.
fn number_of_ref(reference: &str) -> Option<u64> {
    reference
        .strip_prefix("refs/pull/")?
        .split('/')
        .next()?
        .parse()
        .ok()
}

fn text(event: &Value, pointer: &str) -> Option<String> {
    event.pointer(pointer)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const RUN: Run = Run {
        id: Some(900),
        number: Some(5),
        attempt: Some(1),
    };

    fn about(name: &str, reference: Option<&str>, event: &Value) -> About {
        Trigger::read(Some(name), reference, event, RUN).about
    }

    fn number(number: u64) -> About {
        About::Number { number, sha: None }
    }

    fn head(repository: &str, branch: &str, digit: &str) -> Head {
        Head {
            repository: Some(repository.to_owned()),
            branch: branch.to_owned(),
            sha: digit.repeat(40),
        }
    }

    fn pull_request(number: u64, head: Head) -> PullRequest {
        PullRequest { number, head }
    }

    #[test]
    fn an_event_about_a_pull_request_names_it() {
        let event = json!({"pull_request": {"number": 7, "head": {"sha": "abc"}}});
        let named = About::Number {
            number: 7,
            sha: Some("abc".to_owned()),
        };
        assert_eq!(about("pull_request", None, &event), named);
        assert_eq!(about("pull_request_target", None, &event), named);
        let comment = json!({"issue": {"number": 8, "pull_request": {}}});
        assert_eq!(about("issue_comment", None, &comment), number(8));
        let merge = Some("refs/pull/9/merge");
        assert_eq!(about("pull_request", merge, &json!({})), number(9));
    }

    #[test]
    fn other_events_are_about_none() {
        assert_eq!(about("push", Some("refs/heads/main"), &json!({})), About::Nothing);
        let issue = json!({"issue": {"number": 8}});
        assert_eq!(about("issue_comment", None, &issue), About::Nothing);
        let odd = json!({"pull_request": {"number": "7"}});
        assert_eq!(
            about("pull_request", Some("refs/pull/x/merge"), &odd),
            About::Nothing
        );
        assert_eq!(
            about("workflow_run", None, &json!({"workflow_run": {}})),
            About::Nothing
        );
    }

    #[test]
    fn the_end_of_another_run_tells_the_head_and_the_run_that_measured() {
        let event = json!({"workflow_run": {
            "id": 800, "run_number": 4, "run_attempt": 2, "head_branch": "fix", "head_sha": "a".repeat(40),
            "head_repository": {"full_name": "guest/project"}, "pull_requests": [],
        }});
        let trigger = Trigger::read(Some("workflow_run"), None, &event, RUN);
        let expected = Trigger {
            about: About::Upstream {
                head: head("guest/project", "fix", "a"),
                numbers: vec![],
            },
            run: Run {
                id: Some(800),
                number: Some(4),
                attempt: Some(2),
            },
        };
        assert_eq!(trigger, expected);
        let About::Upstream { head, .. } = trigger.about else {
            panic!("it was one");
        };
        assert_eq!(head.owner(), Some("guest"));
    }

    #[test]
    fn the_pull_request_is_found_by_repository_branch_and_commit_together() {
        let wanted = head("guest/project", "fix", "a");
        let it = pull_request(7, wanted.clone());
        let open = [
            pull_request(5, head("other/project", "fix", "a")),
            pull_request(6, head("guest/project", "feature", "a")),
            it.clone(),
        ];
        assert_eq!(choose(&open, &wanted, &[]), Choice::One(it));
        assert_eq!(choose(&open[..2], &wanted, &[5, 6]), Choice::None);
    }

    #[test]
    fn a_pull_request_that_has_moved_on_is_not_it() {
        let now = pull_request(7, head("guest/project", "fix", "b"));
        let open = [now.clone()];
        let measured = head("guest/project", "fix", "a");
        assert_eq!(choose(&open, &measured, &[7]), Choice::Moved(now));
    }

    #[test]
    fn of_several_with_one_head_the_one_that_github_names_is_meant() {
        let wanted = head("owner/project", "fix", "a");
        let open = [pull_request(7, wanted.clone()), pull_request(8, wanted.clone())];
        assert_eq!(choose(&open, &wanted, &[]), Choice::Several(vec![7, 8]));
        assert_eq!(choose(&open, &wanted, &[8]), Choice::One(open[1].clone()));
        assert_eq!(choose(&open, &wanted, &[7, 8]), Choice::Several(vec![7, 8]));
    }

    #[test]
    fn a_head_whose_repository_is_gone_is_that_of_no_pull_request() {
        let gone = Head {
            repository: None,
            ..head("x", "fix", "a")
        };
        let open = [pull_request(7, gone.clone())];
        assert_eq!(choose(&open, &gone, &[]), Choice::None);
    }

    #[test]
    fn runs_are_ordered_by_what_is_known_of_both() {
        let run = |id, number, attempt| Run { id, number, attempt };
        let first = run(Some(1), Some(9), Some(3));
        assert_eq!(first.order(&run(Some(2), Some(1), None)), Ordering::Less);
        assert_eq!(first.order(&run(None, Some(10), None)), Ordering::Less);
        assert_eq!(first.order(&run(Some(1), None, Some(2))), Ordering::Greater);
        assert_eq!(first.order(&Run::default()), Ordering::Equal);
    }
}
