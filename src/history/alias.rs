//! What a maintainer says so that a history goes on: renamed scenarios, machines that stand for each other, commits that
//! became others.
//!
//! Nothing of this is guessed. Without a word the history of a renamed scenario ends and another begins.

use serde::Deserialize;

/// Name of the file in the history's folder.
pub const FILE: &str = "aliases.toml";

/// The content of the file; all of it may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aliases {
    /// Scenarios with a new name.
    pub rename: Vec<Rename>,
    /// Classes of machines whose changes are to be read as one history.
    pub bridge: Vec<Bridge>,
    /// Commits that were written anew.
    pub commit: Vec<Moved>,
}

/// A scenario that got another name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    /// Old full id; with a final `*`, every id that begins so.
    pub from: String,
    /// New full id; with a final `*`, what stands in place of that beginning.
    pub to: String,
    /// Only of this bench target or program.
    pub target: Option<String>,
    /// The target it is in now, if that is another one.
    pub to_target: Option<String>,
}

/// A class of machines that took over from another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bridge {
    /// Class of the old machines.
    pub from: String,
    /// Class of the new ones, under whose name the history goes on.
    pub to: String,
    /// Why changes on one may be read as changes on the other.
    pub reason: String,
}

/// A commit that was written anew with other files than before, as a rebase over conflicts does.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// Full id it was measured as.
    pub from: String,
    /// Full id it has now.
    pub to: String,
}

/// Why the file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AliasError {
    /// No TOML, or keys that mean nothing.
    #[error("{FILE} of the history cannot be used: {0}")]
    Toml(String),
    /// A star on one side only.
    #[error("{FILE} of the history renames `{from}` to `{to}`: both end in `*`, or neither")]
    Star {
        /// Old.
        from: String,
        /// New.
        to: String,
    },
}

impl Aliases {
    /// Reads the file.
    ///
    /// # Errors
    /// [`AliasError`] if it is wrong: a history that ends for a typing error would look like one that ended.
    pub fn parse(text: &str) -> Result<Self, AliasError> {
        let aliases: Self = toml::from_str(text)
            .map_err(|error| AliasError::Toml(error.to_string().trim_end().to_owned()))?;
        match aliases
            .rename
            .iter()
            .find(|each| each.from.ends_with('*') != each.to.ends_with('*'))
        {
            Some(Rename { from, to, .. }) => Err(AliasError::Star {
                from: from.clone(),
                to: to.clone(),
            }),
            None => Ok(aliases),
        }
    }

    /// What a scenario is called now: target and id. Renames apply in the order of the file, each once.
    #[must_use]
    pub fn renamed(&self, target: &str, id: &str) -> (String, String) {
        let (mut target, mut id) = (target.to_owned(), id.to_owned());
        for rename in &self.rename {
            if rename.target.as_ref().is_some_and(|only| *only != target) {
                continue;
            }
            let new = match rename.from.strip_suffix('*') {
                Some(start) => id
                    .strip_prefix(start)
                    .map(|rest| format!("{}{rest}", rename.to.trim_end_matches('*'))),
                None => (rename.from == id).then(|| rename.to.clone()),
            };
            if let Some(new) = new {
                id = new;
                target = rename.to_target.clone().unwrap_or(target);
            }
        }
        (target, id)
    }

    /// The class under whose name measurements of this class are kept now, and why, if a bridge says so.
    #[must_use]
    pub fn class<'a>(&'a self, class: &'a str) -> (&'a str, Option<&'a str>) {
        let (mut class, mut reason) = (class, None);
        // As many steps as there are bridges: two that lead to each other do not go on for ever.
        for _ in &self.bridge {
            if let Some(bridge) = self.bridge.iter().find(|bridge| bridge.from == class) {
                (class, reason) = (&bridge.to, Some(bridge.reason.as_str()));
            }
        }
        (class, reason)
    }

    /// The commit that stands for this one now.
    #[must_use]
    pub fn commit<'a>(&'a self, sha: &'a str) -> &'a str {
        let moved = self.commit.iter().find(|moved| moved.from == sha);
        moved.map_or(sha, |moved| &moved.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renames_follow_each_other_and_a_star_moves_a_whole_group() {
        let aliases = Aliases::parse(
            r#"
            [[rename]]
            from = "add/*"
            to = "sum/*"
            [[rename]]
            from = "sum/f32"
            to = "sum/float"
            target = "ops"
            to_target = "kernels"
            [[bridge]]
            from = "old"
            to = "new"
            reason = "same processor, more memory"
            [[commit]]
            from = "a"
            to = "b"
            "#,
        )
        .unwrap();
        let renamed = |target, id| aliases.renamed(target, id);
        assert_eq!(
            renamed("ops", "add/f32"),
            ("kernels".to_owned(), "sum/float".to_owned())
        );
        assert_eq!(renamed("io", "add/f32"), ("io".to_owned(), "sum/f32".to_owned()));
        assert_eq!(renamed("io", "address"), ("io".to_owned(), "address".to_owned()));
        assert_eq!(aliases.class("old"), ("new", Some("same processor, more memory")));
        assert_eq!(aliases.class("other"), ("other", None));
        assert_eq!((aliases.commit("a"), aliases.commit("c")), ("b", "c"));
    }

    #[test]
    fn what_means_nothing_is_an_error_and_bridges_may_form_a_circle() {
        let wrong = |text: &str| Aliases::parse(text).unwrap_err().to_string();
        assert!(wrong("[[rename]]\nform = 'a'\nto = 'b'").contains("unknown field `form`"));
        assert!(wrong("[[rename]]\nfrom = 'a*'\nto = 'b'").contains("both end in `*`, or neither"));
        let circle = "[[bridge]]\nfrom='a'\nto='b'\nreason='x'\n[[bridge]]\nfrom='b'\nto='a'\nreason='y'";
        assert_eq!(Aliases::parse(circle).unwrap().class("a").0, "a");
    }
}
