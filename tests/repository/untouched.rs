//! Nothing that is done here leaves a trace in the user's repository.

use crate::fixture::Fixture;
use abreast::edge::git::{Ci, Repo};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Content, mode bits and mtime of everything below a folder, `.git` included.
fn trace(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32, SystemTime)> {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|found| {
            let found = found.unwrap();
            let about = found.path().symlink_metadata().unwrap();
            let content = if about.is_file() {
                std::fs::read(found.path()).unwrap()
            } else {
                Vec::new()
            };
            let bits = std::os::unix::fs::PermissionsExt::mode(&about.permissions());
            (
                found.path().to_owned(),
                (content, bits, about.modified().unwrap()),
            )
        })
        .collect()
}

/// Makes everything look old, so that a mere touch shows.
fn age(folder: &Path) {
    let old = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for found in walkdir::WalkDir::new(folder).contents_first(true) {
        let found = found.unwrap();
        if !found.path_is_symlink() {
            std::fs::File::open(found.path())
                .unwrap()
                .set_modified(old)
                .unwrap();
        }
    }
}

fn busy() -> Fixture {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.txt text=auto\n*.bin filter=lfs -text\n");
    fixture.write(".gitignore", "*.log\n");
    for n in 0..20 {
        fixture.write(&format!("src/{n}.rs"), format!("// {n}\n"));
    }
    fixture.write("a.txt", "one\n");
    fixture.commit("one");
    // Some objects in a pack, some loose: libgit2 touches either kind when it "writes" them again.
    fixture.git(&["gc", "--quiet"]);
    fixture.write("src/1.rs", "// committed loose\n");
    fixture.commit("two");
    fixture.write("src/2.rs", "// stashed\n");
    fixture.git(&["stash", "--quiet"]);
    fixture.write("src/3.rs", "// staged\n");
    fixture.git(&["add", "src/3.rs"]);
    fixture.write("src/4.rs", "// dirty\n");
    // Content that the object database already has, loose and packed.
    fixture.write("src/copy-loose.rs", "// committed loose\n");
    fixture.write("src/copy-packed.rs", "// 5\n");
    fixture.write("a.txt", "one\r\n");
    fixture.write("new.bin", "weights");
    fixture.write("x.log", "ignored");
    fixture.remove("src/6.rs");
    std::os::unix::fs::symlink("src/1.rs", fixture.path.join("link")).unwrap();
    fixture
}

#[test]
fn the_users_repository_is_byte_for_byte_and_time_for_time_as_before() {
    let fixture = busy();
    age(&fixture.path);
    let before = trace(&fixture.path);
    let repo = Repo::discover(&fixture.path.join("src")).unwrap();
    let (base, head) = repo.resolve(None, None, &Ci::default()).unwrap();
    let base = repo.snapshot(&base).unwrap();
    let head = repo.snapshot(&head).unwrap();
    for snapshot in [&base, &head] {
        for (path, _) in snapshot.entries() {
            snapshot.read(path).unwrap().unwrap();
        }
    }
    let store = tempfile::tempdir().unwrap();
    let tree = abreast::edge::tree::Tree::open(store.path().join("tree")).unwrap();
    tree.lay(&base, None).unwrap();
    tree.lay(&head, Some(&base)).unwrap();
    let after = trace(&fixture.path);
    for (path, state) in &before {
        assert_eq!(after.get(path), Some(state), "{}", path.display());
    }
    assert_eq!(before.len(), after.len(), "something came into being");
}

#[test]
fn submodules_are_untouched_too() {
    let inner = Fixture::new();
    inner.commit_file("l", "1");
    let main = Fixture::new();
    main.commit_file("a", "1");
    main.git(&[
        "submodule",
        "--quiet",
        "add",
        inner.path.to_str().unwrap(),
        "vendor",
    ]);
    main.commit("with vendor");
    main.write("vendor/l", "dirty");
    main.write("vendor/new", "dirty");
    age(&main.path);
    let before = trace(&main.path);
    let (_, snapshot) = main.working();
    assert_eq!(snapshot.notes.len(), 1);
    assert!(before == trace(&main.path));
}
