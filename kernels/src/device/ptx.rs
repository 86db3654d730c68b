//! The sources of the kernels, and their translation, which is done at run time and kept on disk.
#![expect(
    clippy::disallowed_methods,
    reason = "translated kernels are kept in a folder of files"
)]

use super::error::DeviceError;
use super::probe::Availability;
use crate::digest::sha256;
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts, sys};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Options of every translation. Nothing is contracted that is not written as a fused operation, so that the CPU can
/// do the same; division, square root and subnormal numbers are those of IEEE 754 by default.
const LANGUAGE: &str = "--std=c++17";

macro_rules! text {
    ($file:literal) => {
        concat!(
            include_str!("../../cuda/numbers.cuh"),
            "\n#line 1 \"",
            $file,
            "\"\n",
            include_str!(concat!("../../cuda/", $file))
        )
    };
}

/// A file of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Expand, tile, transpose, gather.
    Movement,
    /// Add.
    Elementwise,
    /// Mean, RMS norm, softmax, argmax.
    Reduce,
    /// Products of matrices, and of matrices and vectors.
    Matmul,
    /// Rotary embedding, cache, attention.
    Attention,
    /// A token's vector, `SwiGLU`, linear attention.
    Layers,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Movement,
        Self::Elementwise,
        Self::Reduce,
        Self::Matmul,
        Self::Attention,
        Self::Layers,
    ];

    /// Name of the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Movement => "movement.cu",
            Self::Elementwise => "elementwise.cu",
            Self::Reduce => "reduce.cu",
            Self::Matmul => "matmul.cu",
            Self::Attention => "attention.cu",
            Self::Layers => "layers.cu",
        }
    }

    /// What the compiler gets: the file, with what all of them share in front.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Movement => text!("movement.cu"),
            Self::Elementwise => text!("elementwise.cu"),
            Self::Reduce => text!("reduce.cu"),
            Self::Matmul => text!("matmul.cu"),
            Self::Attention => text!("attention.cu"),
            Self::Layers => text!("layers.cu"),
        }
    }
}

/// Where translations are kept. A folder that cannot be read or written costs the time of translating again, and
/// nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PtxCache {
    folder: Option<PathBuf>,
}

impl PtxCache {
    /// Nowhere.
    #[must_use]
    pub const fn none() -> Self {
        Self { folder: None }
    }

    /// In this folder, which is made when the first is kept. Several processes may share it.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: Some(folder.to_path_buf()),
        }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{key}.ptx")))
    }

    /// What was kept under this key, if every byte of it is still there.
    fn find(&self, key: &str) -> Option<String> {
        let kept = std::fs::read_to_string(self.path(key)?).ok()?;
        let (digest, ptx) = kept.strip_prefix("// ")?.split_once('\n')?;
        (digest == sha256(ptx.as_bytes())).then(|| ptx.to_owned())
    }

    fn keep(&self, key: &str, ptx: &str) {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let Some(path) = self.path(key) else { return };
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        // Under a name of its own first: another process never sees half a file.
        let half = path.with_extension(format!("{}-{number}", std::process::id()));
        let kept = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&half, format!("// {}\n{ptx}", sha256(ptx.as_bytes()))))
            .and_then(|()| std::fs::rename(&half, &path));
        if kept.is_err() {
            // There may be nothing to remove, and nobody to tell.
            let _ = std::fs::remove_file(&half);
        }
    }
}

/// Translates a source for GPUs of this compute capability (major, minor) to PTX, or takes what was kept. Needs
/// NVRTC, but neither a driver nor a GPU.
///
/// # Errors
/// [`DeviceError::Unavailable`] without NVRTC, [`DeviceError::Compile`] with what it says.
pub fn translate(source: Source, capability: (i32, i32), cache: &PtxCache) -> Result<String, DeviceError> {
    if !is_compiler_present() {
        return Err(DeviceError::Unavailable(Availability::NoCompiler));
    }
    let arch = format!("compute_{}{}", capability.0, capability.1);
    let refused = |log: String| DeviceError::Compile {
        source_name: source.name(),
        arch: arch.clone(),
        log,
    };
    let version = compiler_version().map_err(&refused)?;
    let key = key(source.text(), &arch, version);
    if let Some(kept) = cache.find(&key) {
        return Ok(kept);
    }
    let options = CompileOptions {
        fmad: Some(false),
        options: vec![format!("--gpu-architecture={arch}"), LANGUAGE.to_owned()],
        name: Some(source.name().to_owned()),
        ..CompileOptions::default()
    };
    let ptx = compile_ptx_with_opts(source.text(), options)
        .map_err(|error| match error {
            CompileError::CompileError { log, .. } => refused(log.to_string_lossy().trim().to_owned()),
            other => refused(format!("{other:?}")),
        })?
        .to_src();
    cache.keep(&key, &ptx);
    Ok(ptx)
}

/// Whether NVRTC is found.
pub(super) fn is_compiler_present() -> bool {
    // SAFETY: loading a library runs its initialisers; those of NVRTC have no requirements.
    unsafe { sys::is_culib_present() }
}

fn compiler_version() -> Result<(i32, i32), String> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both places live until the call is over, and it writes one number to each.
    unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }
        .result()
        .map_err(|error| format!("the compiler does not tell its version: {error:?}"))?;
    Ok((major, minor))
}

/// Name of a translation: of everything that it depends on.
fn key(text: &str, arch: &str, compiler: (i32, i32)) -> String {
    let (major, minor) = compiler;
    sha256(format!("ptx fmad=false {LANGUAGE} {arch} nvrtc {major}.{minor}\n{text}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_again_and_leaves_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let cache = PtxCache::at(&folder.path().join("kernels"));
        assert_eq!(cache.find("a"), None);
        cache.keep("a", ".version 9.0\n");
        cache.keep("a", ".version 9.0\n");
        assert_eq!(cache.find("a").as_deref(), Some(".version 9.0\n"));
        assert_eq!(cache.find("b"), None);
        assert_eq!(
            std::fs::read_dir(folder.path().join("kernels")).unwrap().count(),
            1
        );
    }

    #[test]
    fn a_file_that_was_cut_or_changed_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let cache = PtxCache::at(folder.path());
        cache.keep("a", "one two three");
        let path = cache.path("a").unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        for broken in [
            &whole[..whole.len() - 1],
            &whole.replace("two", "2wo"),
            "",
            "// \n",
        ] {
            std::fs::write(&path, broken).unwrap();
            assert_eq!(cache.find("a"), None, "{broken}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let cache = PtxCache::at(&file);
        cache.keep("a", "text");
        assert_eq!(cache.find("a"), None);
        PtxCache::none().keep("a", "text");
    }

    #[test]
    fn the_key_depends_on_source_architecture_and_compiler() {
        let keys = [
            key("a", "compute_90", (13, 0)),
            key("b", "compute_90", (13, 0)),
            key("a", "compute_80", (13, 0)),
            key("a", "compute_90", (12, 9)),
        ];
        for (i, one) in keys.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(keys[..i].iter().all(|other| other != one));
        }
    }

    #[test]
    fn every_source_begins_with_what_all_share_and_names_its_own_lines() {
        for source in Source::ALL {
            assert!(source.text().starts_with("// What every file here stands on"));
            assert!(source.text().contains(&format!("#line 1 \"{}\"", source.name())));
            assert!(!source.text().contains('\0'));
        }
    }
}
