//! How the program gets onto a runner: from a release, or from the action's sources.

use super::server::FakeGithub;
use super::workflows::{read, root};
use std::path::Path;
use std::process::Command;

/// An executable that says which one it is.
fn speaking(folder: &Path, name: &str, words: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{words}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A runner without abreast, whose cargo "builds" one that says so, and a release of version 1.2.3 on a server.
struct Installing {
    folder: tempfile::TempDir,
    server: FakeGithub,
}

impl Installing {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("action")).unwrap();
        std::fs::write(path("action/Cargo.toml"), "[package]\nversion = \"1.2.3\"\n").unwrap();
        let builds = "mkdir -p \"$TOOL/bin\"; printf '#!/bin/sh\\necho built\\n' >\"$TOOL/bin/abreast\"; chmod +x \"$TOOL/bin/abreast\"";
        speaking(&path("programs"), "cargo", builds);
        for program in ["abreast", "cargo-abreast"] {
            speaking(
                &path(&format!("release/abreast-v1.2.3-{TARGET}")),
                program,
                "echo released",
            );
        }
        let server = FakeGithub::new();
        Self { folder, server }
    }

    /// Puts the release onto the server, with this checksum or its own.
    fn release(&self, checksum: Option<&str>) {
        let name = format!("abreast-v1.2.3-{TARGET}");
        let archive = self.folder.path().join("archive.tar.gz");
        let packed = Command::new("tar")
            .args(["--create", "--gzip", "--file"])
            .arg(&archive)
            .arg("--directory")
            .arg(self.folder.path().join("release"))
            .arg(&name)
            .status();
        assert!(packed.unwrap().success());
        let bytes = std::fs::read(archive).unwrap();
        let own = abreast::digest::sha256(&bytes);
        let line = format!("{}  {name}.tar.gz\n", checksum.unwrap_or(&own));
        let files = &mut self.server.state().files;
        let place = format!("/an-owner/abreast/releases/download/v1.2.3/{name}.tar.gz");
        files.insert(format!("{place}.sha256"), line.into_bytes());
        files.insert(place, bytes);
    }

    /// Installs for a workflow that uses the action by this ref; which program it then has.
    fn install(&self, reference: &str) -> String {
        let folder = self.folder.path();
        let tool = folder.join("tool");
        let _ = std::fs::remove_dir_all(&tool);
        let path = format!(
            "{}:/usr/local/bin:/usr/bin:/bin",
            folder.join("programs").display()
        );
        let ended = Command::new("bash")
            .arg(root().join("assets/github/install.sh"))
            .env_clear()
            .env("PATH", path)
            .env("TOOL", &tool)
            .env("RUNNER_TEMP", folder)
            .env("GITHUB_PATH", folder.join("github-path"))
            .env("GITHUB_ACTION_PATH", folder.join("action"))
            .env("GITHUB_SERVER_URL", &self.server.api)
            .env("ACTION_REPOSITORY", "an-owner/abreast")
            .env("ACTION_REF", reference)
            .env("GH_TOKEN", "")
            .output()
            .unwrap();
        assert!(ended.status.success(), "{ended:?}");
        let paths = std::fs::read_to_string(folder.join("github-path")).unwrap();
        assert!(paths.ends_with("/tool/bin\n"), "{paths}");
        String::from_utf8(ended.stdout).unwrap().trim().to_owned()
    }
}

const TARGET: &str = if cfg!(target_arch = "aarch64") {
    "aarch64-unknown-linux-musl"
} else {
    "x86_64-unknown-linux-musl"
};

#[test]
fn the_program_of_a_release_is_taken_where_its_tag_and_its_checksum_are_right_and_built_elsewhere() {
    let there = Command::new("curl").arg("--version").output();
    if !there.is_ok_and(|ended| ended.status.success()) {
        return;
    }
    let runner = Installing::new();
    assert_eq!(runner.install("v1.2.3"), "built", "there is no release");
    runner.release(Some(&"0".repeat(64)));
    assert_eq!(runner.install("v1.2.3"), "built", "the checksum is wrong");
    runner.release(None);
    for reference in [
        "main",
        "v1.2.4",
        "v1",
        "",
        "0123456789012345678901234567890123456789",
    ] {
        assert_eq!(runner.install(reference), "built", "{reference}");
    }
    assert_eq!(runner.install("v1.2.3"), "released");
}

#[test]
fn whoever_takes_the_files_of_a_release_calls_them_as_they_are_packed() {
    let packed = read(".ci/release");
    assert!(
        packed.contains("name=\"abreast-v$version-$target\"\n"),
        "{packed}"
    );
    assert!(read("assets/github/install.sh").contains("archive=\"abreast-v$version-$target.tar.gz\"\n"));
    let manifest = read("Cargo.toml");
    assert!(manifest.contains("/v{ version }/abreast-v{ version }-{ target }.tar.gz\"\n"));
    assert!(manifest.contains("bin-dir = \"abreast-v{ version }-{ target }/{ bin }{ binary-ext }\"\n"));
    let release = read(".github/workflows/release.yml");
    for target in ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"] {
        assert!(
            release.contains(target) && read("assets/github/install.sh").contains(target),
            "{target}"
        );
    }
}
