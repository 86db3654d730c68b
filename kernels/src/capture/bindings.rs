//! What a recording is good for: the memory that it was made with.

use crate::dtype::DType;

/// Memory that a step reads or writes and that is known outside of it: tokens, positions, caches, results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// What it is for: unique within a step.
    pub name: String,
    /// How its numbers are stored; absent for indices.
    pub dtype: Option<DType>,
    /// Its shape as it lies in memory.
    pub shape: Vec<usize>,
    /// Its address; absent where the next step may have another one, so that nothing can be recorded with it.
    pub address: Option<u64>,
}

/// All bindings of a step, whatever order they are named in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    bindings: Vec<Binding>,
}

impl Fingerprint {
    /// Of these bindings.
    #[must_use]
    pub fn of(bindings: &[Binding]) -> Self {
        let mut bindings = bindings.to_vec();
        bindings.sort_by(|one, other| one.name.cmp(&other.name));
        Self { bindings }
    }

    /// Whether it is that of these bindings.
    #[must_use]
    pub fn is(&self, bindings: &[Binding]) -> bool {
        bindings.len() == self.bindings.len()
            && bindings
                .iter()
                .all(|binding| self.named(&binding.name) == Some(binding))
    }

    /// The first binding without a fixed address.
    #[must_use]
    pub fn unfixed(&self) -> Option<&Binding> {
        self.bindings.iter().find(|binding| binding.address.is_none())
    }

    /// What is different now, as a part of a sentence; absent if nothing is.
    #[must_use]
    pub fn changed(&self, now: &Self) -> Option<String> {
        for binding in &self.bindings {
            let Some(other) = now.named(&binding.name) else {
                return Some(format!("{} is gone", binding.name));
            };
            if other != binding {
                return Some(format!("{} was {binding} and is {other}", binding.name));
            }
        }
        let new = now
            .bindings
            .iter()
            .find(|binding| self.named(&binding.name).is_none());
        if let Some(new) = new {
            return Some(format!("{} is new", new.name));
        }
        (self.bindings.len() != now.bindings.len()).then(|| "a binding is named twice".to_owned())
    }

    fn named(&self, name: &str) -> Option<&Binding> {
        // Sorted: a step has many, and all are looked at before every replay.
        let found = self
            .bindings
            .binary_search_by(|binding| binding.name.as_str().cmp(name));
        self.bindings.get(found.ok()?)
    }
}

impl std::fmt::Display for Binding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.dtype {
            Some(dtype) => write!(formatter, "{dtype} ")?,
            None => formatter.write_str("indices ")?,
        }
        match self.address {
            Some(address) => write!(formatter, "{:?} at {address:#x}", self.shape),
            None => write!(formatter, "{:?} anywhere", self.shape),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(name: &str, length: usize, address: u64) -> Binding {
        Binding {
            name: name.into(),
            dtype: Some(DType::F32),
            shape: vec![1, length],
            address: Some(address),
        }
    }

    #[test]
    fn the_order_of_bindings_does_not_matter() {
        let (one, other) = (binding("logits", 8, 0x10), binding("token", 1, 0x20));
        let forward = Fingerprint::of(&[one.clone(), other.clone()]);
        let backward = Fingerprint::of(&[other, one]);
        assert_eq!(forward, backward);
        assert_eq!(forward.changed(&backward), None);
    }

    #[test]
    fn another_address_shape_type_or_name_is_told() {
        let before = Fingerprint::of(&[binding("logits", 8, 0x10)]);
        let changed = |now: Binding| before.changed(&Fingerprint::of(&[now])).unwrap();
        assert_eq!(
            changed(binding("logits", 8, 0x20)),
            "logits was f32 [1, 8] at 0x10 and is f32 [1, 8] at 0x20"
        );
        assert!(changed(binding("logits", 9, 0x10)).contains("[1, 9]"));
        let indices = Binding {
            dtype: None,
            ..binding("logits", 8, 0x10)
        };
        assert!(changed(indices).contains("indices"));
        assert_eq!(changed(binding("token", 8, 0x10)), "logits is gone");
        let more = Fingerprint::of(&[binding("logits", 8, 0x10), binding("token", 1, 0x20)]);
        assert_eq!(before.changed(&more).unwrap(), "token is new");
    }

    #[test]
    fn a_binding_without_an_address_is_found() {
        let anywhere = Binding {
            address: None,
            ..binding("logits", 8, 0)
        };
        let found = Fingerprint::of(&[binding("a", 1, 1), anywhere]);
        assert_eq!(found.unfixed().unwrap().to_string(), "f32 [1, 8] anywhere");
        assert!(Fingerprint::of(&[binding("a", 1, 1)]).unfixed().is_none());
    }
}
