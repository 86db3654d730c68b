//! Judging what programs measured elsewhere: no tree, no processes, files of others.

use super::{Outcome, PipelineError, judge};
use crate::config::Settings;
use crate::digest::sha256;
use crate::edge::clock::timestamp;
use crate::edge::format::{self, Written};
use crate::edge::store;
use crate::imported;
use crate::inside::is_inside;
use crate::plan::{Measuring, Plan, Policy, Selection};
use crate::profile::{Format, Profile};
use crate::recording::{Header, SCHEMA};
use crate::revision::Revision;
use std::path::{Path, PathBuf};

/// Bytes of the largest file that is read: far more than any program writes about itself.
const LARGEST: u64 = 256 << 20;

/// What `judge --base --head` is asked for.
#[derive(Debug, Clone, Copy)]
pub struct ForeignAsk<'a> {
    /// Files of base, one a launch.
    pub base: &'a [PathBuf],
    /// Files of head, one a launch.
    pub head: &'a [PathBuf],
    /// What wrote them.
    pub format: Format,
    /// How to judge.
    pub settings: &'a Settings,
}

/// Judges files that a program wrote, each of one launch.
///
/// # Errors
/// [`PipelineError`] if a file cannot be read, or holds nothing that can be used.
pub fn judge_foreign(ask: ForeignAsk<'_>) -> Result<Outcome, PipelineError> {
    let policy = ask.settings.policy(Policy::default())?;
    let (base, base_launches) = side(ask.base, ask.format)?;
    let (head, head_launches) = side(ask.head, ask.format)?;
    let header = Header {
        schema: SCHEMA.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        run: "elsewhere".to_owned(),
        started_at: timestamp(),
        plan: Plan {
            base,
            head,
            selection: Selection::default(),
            measuring: Measuring {
                budget_s: None,
                confirm: false,
                layout_check: false,
                elsewhere: true,
                ..Measuring::with_seed(0)
            },
            policy,
        },
    };
    let recording = imported::recording(header, ask.format.name(), [base_launches, head_launches]);
    Ok(judge(recording, ask.settings.fail_on.clone()).with_claims(ask.settings))
}

/// The launches of a side, and what stands for its commit: the names of its files, and the digest of what is in them.
fn side(files: &[PathBuf], format: Format) -> Result<(Revision, Vec<Profile>), PipelineError> {
    let mut launches = Vec::new();
    let mut digests = String::new();
    for file in files {
        let bytes = store::read_plain(file, LARGEST)?;
        let digest = sha256(&bytes);
        if digests.contains(&digest) {
            let message = format!(
                "{} holds the same bytes as another file of its side: each file is one launch, and counts once",
                file.display()
            );
            return Err(PipelineError::Usage(message));
        }
        digests.push_str(&digest);
        launches.push(read(file, &bytes, format)?);
    }
    let mut names = files.iter().map(|file| file.display().to_string());
    let first = names.next().unwrap_or_default();
    let label = match names.len() {
        0 => first,
        more => format!("{first} and {more} more"),
    };
    let mut sha = sha256(digests.as_bytes());
    sha.truncate(40);
    Ok((Revision { label, sha }, launches))
}

fn read(file: &Path, bytes: &[u8], format: Format) -> Result<Profile, PipelineError> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let beside = |name: &str| {
        let path = Path::new(name);
        is_inside(path).then(|| store::read_plain(&folder.join(path), LARGEST).ok())?
    };
    let written = Written {
        bytes,
        beside: &beside,
    };
    format::read(format, written).map_err(|source| PipelineError::Format {
        path: file.to_owned(),
        source,
    })
}
