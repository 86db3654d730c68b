//! What differs between the sides besides the code under test.

use crate::build::Lock;
use crate::recording::Difference;
use std::collections::{BTreeMap, BTreeSet};

/// Everything about one side's build that should be the same on the other.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    /// Lock file.
    pub lock: Option<Lock>,
    /// `rustc -vV`.
    pub toolchain: Option<String>,
    /// Texts of all manifests, by path.
    pub manifests: BTreeMap<String, String>,
    /// Texts of cargo configuration files, by path.
    pub configs: BTreeMap<String, String>,
    /// What build scripts told cargo, by package id.
    pub scripts: BTreeMap<String, String>,
    /// Object ids of files below bench folders that are not Rust source, by path.
    pub bench_data: BTreeMap<String, String>,
}

/// Lists the differences, in the order a reader wants them: what can explain a change of every row first.
#[must_use]
pub fn differences(base: &Circumstances, head: &Circumstances) -> Vec<Difference> {
    let mut all = Vec::new();
    all.extend(toolchain(base, head));
    all.extend(by_key(
        "profile",
        &profiles(&base.manifests),
        &profiles(&head.manifests),
    ));
    all.extend(by_key("flags", &base.configs, &head.configs));
    all.extend(lock(base.lock.as_ref(), head.lock.as_ref()));
    all.extend(by_key("build script", &base.scripts, &head.scripts));
    all.extend(by_key("bench data", &base.bench_data, &head.bench_data));
    all
}

fn toolchain(base: &Circumstances, head: &Circumstances) -> Option<Difference> {
    (base.toolchain != head.toolchain).then(|| Difference {
        kind: "toolchain".to_owned(),
        subject: "rustc -vV".to_owned(),
        base: base.toolchain.clone(),
        head: head.toolchain.clone(),
    })
}

fn lock(base: Option<&Lock>, head: Option<&Lock>) -> Vec<Difference> {
    let versions = |lock: Option<&Lock>| -> BTreeMap<String, String> {
        let versions = lock.map(Lock::versions).unwrap_or_default();
        let join = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(", ");
        versions
            .into_iter()
            .map(|(name, set)| (name.to_owned(), join(set)))
            .collect()
    };
    let mut differences = by_key("lock", &versions(base), &versions(head));
    for difference in &mut differences {
        if difference.subject == "criterion" {
            difference.kind = "criterion".to_owned();
        }
    }
    differences.sort_by_key(|difference| difference.kind != "criterion");
    differences
}

/// The `[profile.*]` tables of each manifest that has some, as normalised text.
fn profiles(manifests: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let profile = |text: &String| {
        let table: toml::Table = text.parse().ok()?;
        toml::to_string(table.get("profile")?)
            .ok()
            .map(|text| text.trim().to_owned())
    };
    manifests
        .iter()
        .filter_map(|(path, text)| Some((path.clone(), profile(text)?)))
        .collect()
}

fn by_key(kind: &str, base: &BTreeMap<String, String>, head: &BTreeMap<String, String>) -> Vec<Difference> {
    let subjects: BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    subjects
        .into_iter()
        .filter(|subject| base.get(*subject) != head.get(*subject))
        .map(|subject| Difference {
            kind: kind.to_owned(),
            subject: subject.clone(),
            base: base.get(subject).cloned(),
            head: head.get(subject).cloned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(criterion: &str, serde: &str) -> Lock {
        let package = |name: &str, version: &str| {
            format!("[[package]]\nname='{name}'\nversion='{version}'\nsource='registry+x'\n")
        };
        Lock::parse(&(package("criterion", criterion) + &package("serde", serde))).unwrap()
    }

    #[test]
    fn equal_circumstances_have_no_differences() {
        let side = Circumstances {
            lock: Some(lock("0.8.2", "1.0.0")),
            ..Circumstances::default()
        };
        assert_eq!(differences(&side, &side.clone()), []);
    }

    #[test]
    fn the_measuring_library_is_told_apart_from_other_packages_and_comes_first() {
        let base = Circumstances {
            lock: Some(lock("0.7.0", "1.0.0")),
            ..Circumstances::default()
        };
        let head = Circumstances {
            lock: Some(lock("0.8.2", "1.0.1")),
            ..Circumstances::default()
        };
        let kinds: Vec<String> = differences(&base, &head)
            .into_iter()
            .map(|d| format!("{} {} {} {}", d.kind, d.subject, d.base.unwrap(), d.head.unwrap()))
            .collect();
        assert_eq!(
            kinds,
            ["criterion criterion 0.7.0 0.8.2", "lock serde 1.0.0 1.0.1"]
        );
    }

    #[test]
    fn only_the_profile_part_of_a_manifest_counts() {
        let manifest = |version: &str, lto: bool| {
            let text = format!("[package]\nversion='{version}'\n[profile.release]\nlto = {lto}\n");
            Circumstances {
                manifests: [("Cargo.toml".to_owned(), text)].into(),
                ..Circumstances::default()
            }
        };
        assert_eq!(
            differences(&manifest("1.0.0", true), &manifest("1.0.1", true)),
            []
        );
        let [difference] = &differences(&manifest("1.0.0", true), &manifest("1.0.0", false))[..] else {
            panic!()
        };
        assert_eq!(difference.kind, "profile");
        assert_eq!(difference.head.as_deref(), Some("[release]\nlto = false"));
    }
}
