//! The folder in which kernels that were compiled are kept, so that the next process need not compile them.

use kernels::device::PtxCache;
use std::ffi::OsString;
use std::path::PathBuf;

/// In the cache of the user; nowhere for a user without one.
pub(crate) fn of_user() -> PtxCache {
    match folder(std::env::var_os) {
        Some(folder) => PtxCache::at(&folder),
        None => PtxCache::none(),
    }
}

/// As the XDG base directory specification has it: a path that is not absolute counts as none.
fn folder(variable: impl Fn(&'static str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = match absolute("XDG_CACHE_HOME") {
        Some(cache) => cache,
        None => absolute("HOME")?.join(".cache"),
    };
    Some(cache.join("abreast").join("kernels"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn folder_of(variables: &[(&str, &str)]) -> Option<PathBuf> {
        folder(|wanted| {
            let (_, value) = variables.iter().find(|(name, _)| *name == wanted)?;
            Some(value.into())
        })
    }

    #[test]
    fn the_folder_is_in_the_cache_that_was_chosen_or_in_the_one_at_home() {
        let chosen = folder_of(&[("XDG_CACHE_HOME", "/chosen"), ("HOME", "/home/one")]);
        assert_eq!(chosen.as_deref(), Some(Path::new("/chosen/abreast/kernels")));
        let wanted = Path::new("/home/one/.cache/abreast/kernels");
        for ignored in ["", "not/absolute"] {
            let at_home = folder_of(&[("XDG_CACHE_HOME", ignored), ("HOME", "/home/one")]);
            assert_eq!(at_home.as_deref(), Some(wanted), "{ignored:?}");
        }
    }

    #[test]
    fn a_user_without_a_home_has_none() {
        assert_eq!(folder_of(&[]), None);
        assert_eq!(folder_of(&[("HOME", "")]), None);
    }
}
