#!/usr/bin/env bash
# Puts abreast on the path: the one that is there, the one that was kept, the one that was released, or one that is built
# from this action's sources.
set -euo pipefail

# The program of a release, where the action is used by the tag of its own version. Its checksum must be right and, where
# GitHub's own program can tell, its provenance. Whatever is wrong with it, the sources remain.
released() {
    local version target archive folder
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$GITHUB_ACTION_PATH/Cargo.toml" | head -n 1)
    [ -n "$ACTION_REPOSITORY" ] && [ "$ACTION_REF" = "v$version" ] || return 1
    case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) target=x86_64-unknown-linux-musl ;;
    Linux-aarch64) target=aarch64-unknown-linux-musl ;;
    *) return 1 ;;
    esac
    archive="abreast-v$version-$target.tar.gz"
    folder=$(mktemp -d "$RUNNER_TEMP/abreast-download-XXXXXX")
    cd "$folder" || return
    for file in "$archive" "$archive.sha256"; do
        curl --fail --silent --show-error --location --retry 3 --max-time 120 --remote-name \
            "$GITHUB_SERVER_URL/$ACTION_REPOSITORY/releases/download/$ACTION_REF/$file" || return
    done
    sha256sum --check --status "$archive.sha256" || return
    if [ -n "$GH_TOKEN" ] && command -v gh >/dev/null; then
        gh attestation verify "$archive" --repo "$ACTION_REPOSITORY" >/dev/null || return
    fi
    tar -xzf "$archive" --strip-components 1 || return
    ./abreast --version >/dev/null && mkdir -p "$TOOL/bin" && mv abreast cargo-abreast "$TOOL/bin"
}

# In the sources' own folder, so that nothing of the measured repository (toolchain, flags, .cargo) has a say.
built() {
    cd "$GITHUB_ACTION_PATH"
    env -u RUSTFLAGS -u RUSTUP_TOOLCHAIN -u CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR="$RUNNER_TEMP/abreast-build" \
        cargo install --locked --path . --root "$TOOL"
}

if ! command -v abreast >/dev/null; then
    if [ ! -x "$TOOL/bin/abreast" ]; then
        (released) || (built)
    fi
    echo "$TOOL/bin" >>"$GITHUB_PATH"
    PATH="$TOOL/bin:$PATH"
fi
abreast --version
