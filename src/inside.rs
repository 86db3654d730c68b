//! Whether a relative path that somebody else wrote stays in its folder.

use std::path::{Component, Path};

/// Whether a path consists of plain names only, at least one: not absolute, without `..`.
#[must_use]
pub fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Whether a text is one plain name.
#[must_use]
pub fn is_name(text: &str) -> bool {
    is_inside(Path::new(text)) && Path::new(text).components().count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_are_not_inside() {
        for path in ["../x", "/etc/passwd", "a/../../x", "", ".", "a/.."] {
            assert!(!is_inside(Path::new(path)), "{path}");
        }
        assert!(is_inside(Path::new("a/b")) && is_name("a") && !is_name("a/b") && !is_name(".."));
    }
}
