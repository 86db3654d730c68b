//! From the files of a history's folder to what is known.

use super::alias::{self, AliasError, Aliases};
use super::blessing::{self, Blessing};
use super::trend::Known;
use super::{File, FileError};

/// What one file turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed {
    /// Measurements of a commit.
    File(Box<File>),
    /// Blessings of a commit.
    Blessings(Vec<Blessing>),
    /// Aliases.
    Aliases(Aliases),
    /// It should be part of the history and cannot be read.
    Damaged(String),
    /// It is none of the history's.
    Other,
}

/// Reads one file; `path` is relative to the history's folder.
///
/// # Errors
/// [`AliasError`] for aliases that cannot be used: everything else that cannot be read is left out and named, but a
/// history without its aliases would be another one.
pub fn parse(path: &str, bytes: &[u8]) -> Result<Parsed, AliasError> {
    if path == alias::FILE {
        return Aliases::parse(&String::from_utf8_lossy(bytes)).map(Parsed::Aliases);
    }
    if let Some(blessings) = blessing::at(path, bytes) {
        return Ok(blessings.map_or_else(|error| Parsed::Damaged(error.to_string()), Parsed::Blessings));
    }
    Ok(match File::at(path, bytes) {
        None => Parsed::Other,
        Some(Ok(file)) => Parsed::File(Box::new(file)),
        Some(Err(error)) => Parsed::Damaged(error.to_string()),
    })
}

/// The content of a file that two writers changed at once: everything that either put in. `None` if both cannot be had
/// because one of them cannot be understood, or the file is not one that is only added to.
#[must_use]
pub fn join(path: &str, one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    if let Some(blessings) = blessing::at(path, other) {
        let all = blessings.ok()?;
        return all.iter().try_fold(one.to_vec(), |joined, each| {
            blessing::append(Some(&joined), each).ok()
        });
    }
    let other = File::at(path, other)?.ok()?;
    let append = |joined: Vec<u8>, each| super::append(Some(&joined), &other.class, each);
    let joined: Result<Vec<u8>, FileError> = other.measurements.iter().try_fold(one.to_vec(), append);
    joined.ok()
}

impl Known {
    /// What these files say, whatever their order.
    #[must_use]
    pub fn of(mut parsed: Vec<(String, Parsed)>) -> Self {
        parsed.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut known = Self::default();
        for (path, parsed) in parsed {
            match parsed {
                Parsed::File(file) => known.files.push(*file),
                Parsed::Blessings(blessings) => known.blessings.extend(blessings),
                Parsed::Aliases(aliases) => known.aliases = aliases,
                Parsed::Damaged(why) => known.skipped.push((path, why)),
                Parsed::Other => {}
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::file::tests::measurement;
    use crate::history::path_of;

    #[test]
    fn what_is_damaged_is_named_and_the_rest_is_read() {
        let sha = "b".repeat(40);
        let whole = super::super::append(None, "c", &measurement(None, "b", &[])).unwrap();
        let files: [(&str, &[u8]); 6] = [
            (&path_of("c", &sha, 0), &whole),
            (&path_of("d", &sha, 0), &whole[..40]),
            ("c/qualify.json", b"{}"),
            ("aliases.toml", b"[[rename]]\nfrom='a'\nto='b'"),
            (
                &blessing::path_of(&sha),
                b"{\"schema\":\"abreast/blessing/7\",\"blessings\":[]}",
            ),
            ("c/.tmpx", b""),
        ];
        let parsed = files.map(|(path, bytes)| (path.to_owned(), parse(path, bytes).unwrap()));
        let known = Known::of(parsed.to_vec());
        assert_eq!((known.files.len(), known.aliases.rename.len()), (1, 1));
        let skipped: Vec<&str> = known.skipped.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(skipped, [blessing::path_of(&sha), path_of("d", &sha, 0)]);
    }

    #[test]
    fn two_versions_of_a_file_are_joined_unless_one_cannot_be_understood() {
        let path = path_of("c", &"b".repeat(40), 0);
        let of = |base: &str| super::super::append(None, "c", &measurement(Some(base), "b", &[])).unwrap();
        let joined = join(&path, &of("1"), &of("2")).unwrap();
        assert_eq!(File::parse(&joined).unwrap().measurements.len(), 2);
        assert_eq!(join(&path, &of("1")[..20], &of("2")), None);
        assert_eq!(join(&path, &of("1"), b"{"), None);
        assert_eq!(join("aliases.toml", b"", b""), None);
    }
}
