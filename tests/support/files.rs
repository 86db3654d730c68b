//! The files of one commit.

use std::collections::BTreeMap;
use std::path::Path;

/// Contents by path.
#[derive(Clone, Default)]
pub(crate) struct Files(pub(crate) BTreeMap<String, Vec<u8>>);

impl Files {
    /// A fixture project of `tests/fixtures`, with its manifests armed.
    pub(crate) fn fixture(name: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(name);
        let mut files = Self::default();
        for entry in walkdir::WalkDir::new(&root) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(&root).unwrap().to_str().unwrap();
                let armed = path.replace("Cargo_test.toml", "Cargo.toml");
                files.0.insert(armed, std::fs::read(entry.path()).unwrap());
            }
        }
        assert!(!files.0.is_empty(), "there is no fixture {name}");
        files
    }

    /// The fixture whose benches report scripted times.
    pub(crate) fn suite() -> Self {
        Self::fixture("suite")
    }

    /// With one more file, or another content of it.
    pub(crate) fn with(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.0.insert(path.to_owned(), content.into());
        self
    }

    /// Without a file.
    pub(crate) fn without(mut self, path: &str) -> Self {
        assert!(self.0.remove(path).is_some(), "{path} is not there");
        self
    }

    /// With every `old` in a file replaced; there must be one.
    pub(crate) fn replaced(self, path: &str, old: &str, new: &str) -> Self {
        let text = self.text(path);
        assert!(text.contains(old), "{path} has no `{old}`");
        self.with(path, text.replace(old, new))
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.0[path].clone()).unwrap()
    }

    /// Copies of all files below a folder of another name.
    pub(crate) fn below(self, folder: &str) -> Self {
        let moved = self
            .0
            .into_iter()
            .map(|(path, content)| (format!("{folder}/{path}"), content));
        Self(moved.collect())
    }

    /// With everything that `other` has.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Writes the files below a folder.
    pub(crate) fn write(&self, folder: &Path) {
        for (path, content) in &self.0 {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
    }
}
