//! Text to token ids and back, by byte-level BPE (Sennrich et al., 2016; Radford et al., 2019): with the tokenizer that
//! a GGUF file brings along, or with one that is small enough to be made here, whose merges spell the words of one
//! sentence.

use crate::weights::{KindError, Metadata};
use tokenizers::models::bpe::{BPE, Merges, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::{PreTokenizerWrapper, Tokenizer};

/// The sentence.
pub const PANGRAM: &str = "The quick brown fox jumps over the lazy dog.";

/// Tokens of the sentence: its words, each with the space before it, and the full stop. As many where it comes after
/// itself and a space.
pub const PANGRAM_TOKENS: usize = 10;

/// How byte-level BPE writes a space.
const SPACE: &str = "\u{120}";

/// What the tokenizer refused.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// An error of the library.
    #[error("text: the tokenizer failed to {what}: {source}")]
    Tokenizer {
        /// What it was to do.
        what: &'static str,
        /// What it says.
        source: tokenizers::Error,
    },
    /// A value of another kind in a file.
    #[error("text: {0}")]
    Value(#[from] KindError),
    /// A file without a tokenizer that is known here.
    #[error(
        "text: the file has no tokenizer that is known here ({found}); give the ids of the prompt instead"
    )]
    None {
        /// What it has.
        found: String,
    },
    /// A merge that is not two tokens.
    #[error("text: merge {index} of the tokenizer is {merge:?}, and must be two tokens and a space")]
    Merge {
        /// Which.
        index: usize,
        /// What it is.
        merge: String,
    },
    /// An id without a token.
    #[error("text: {id} is no token, the vocabulary has {tokens}; decode ids of this tokenizer only")]
    Unknown {
        /// The id.
        id: u32,
        /// How many there are, from 0.
        tokens: usize,
    },
}

/// A tokenizer. Adds no special tokens.
#[derive(Debug, Clone)]
pub struct Codec {
    tokenizer: Tokenizer,
    tokens: usize,
}

impl Codec {
    /// The tokenizer of the sentence: ids 0 to 255 are the bytes, in the order of the characters that stand for them,
    /// and those after them what each merge makes.
    ///
    /// # Errors
    /// [`TextError::Tokenizer`] if the library takes no such model.
    pub fn tiny() -> Result<Self, TextError> {
        let merges = merges();
        let vocabulary = vocabulary(&merges);
        let tokens = vocabulary.len();
        let model = BPE::builder().vocab_and_merges(vocabulary, merges).build();
        let mut tokenizer = Tokenizer::new(model.map_err(failed_to("build its model"))?);
        // No space of its own at the start, so that what is decoded is what was encoded.
        let bytes = ByteLevel::new(false, false, true);
        tokenizer.with_pre_tokenizer(Some(bytes));
        tokenizer.with_decoder(Some(bytes));
        Ok(Self { tokenizer, tokens })
    }

    /// The tokenizer of a GGUF file: byte-level BPE as GPT-2 has it, or as `SmolLM` does, which takes digits one by
    /// one.
    ///
    /// # Errors
    /// [`TextError::None`] if the file has none, or one of another kind; other [`TextError`]s if it contradicts itself.
    pub fn of_gguf(metadata: &Metadata) -> Result<Self, TextError> {
        let kind = metadata.text("tokenizer.ggml.model")?;
        let before = metadata.text("tokenizer.ggml.pre")?.unwrap_or("default");
        let unknown = || TextError::None {
            found: format!("{}, {before}", kind.unwrap_or("none"))
                .chars()
                .take(64)
                .collect(),
        };
        let bytes = ByteLevel::new(false, false, true);
        let split: PreTokenizerWrapper = match (kind, before) {
            (Some("gpt2"), "default" | "gpt-2" | "gpt2") => bytes.into(),
            (Some("gpt2"), "smollm") => Sequence::new(vec![Digits::new(true).into(), bytes.into()]).into(),
            _ => return Err(unknown()),
        };
        let tokens = metadata.texts("tokenizer.ggml.tokens")?.ok_or_else(unknown)?;
        let lines = metadata.texts("tokenizer.ggml.merges")?.ok_or_else(unknown)?;
        let mut merges = Merges::with_capacity(lines.len());
        for (index, line) in lines.iter().enumerate() {
            let (left, right) = line.split_once(' ').ok_or_else(|| TextError::Merge {
                index,
                merge: line.chars().take(64).collect(),
            })?;
            merges.push((left.to_owned(), right.to_owned()));
        }
        let vocabulary: Vocab = tokens.iter().cloned().zip(0..).collect();
        let model = BPE::builder().vocab_and_merges(vocabulary, merges).build();
        let mut tokenizer = Tokenizer::new(model.map_err(failed_to("build its model"))?);
        tokenizer.with_pre_tokenizer(Some(split));
        tokenizer.with_decoder(Some(bytes));
        Ok(Self {
            tokenizer,
            tokens: tokens.len(),
        })
    }

    /// How many tokens there are; ids are below.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The ids of a text; none for an empty one. Any text has them.
    ///
    /// # Errors
    /// [`TextError::Tokenizer`] if the library fails.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TextError> {
        // The fast way differs in not finding out where in the text each token was.
        let encoding = self
            .tokenizer
            .encode_fast(text, false)
            .map_err(failed_to("encode"))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The text of ids; empty for none. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// [`TextError::Unknown`] if an id is no token; [`TextError::Tokenizer`] if the library fails.
    pub fn decode(&self, ids: &[u32]) -> Result<String, TextError> {
        // The library would leave those out without a word.
        if let Some(id) = ids.iter().copied().find(|id| *id as usize >= self.tokens) {
            let tokens = self.tokens;
            return Err(TextError::Unknown { id, tokens });
        }
        self.tokenizer.decode(ids, false).map_err(failed_to("decode"))
    }
}

fn failed_to(what: &'static str) -> impl FnOnce(tokenizers::Error) -> TextError {
    move |source| TextError::Tokenizer { what, source }
}

/// What spells each word, from its space or its first letter on; then the first word as it is after another sentence.
fn merges() -> Merges {
    let mut merges = Merges::new();
    let (mut space, mut first) = ("", "");
    for word in PANGRAM.trim_end_matches('.').split(' ') {
        let mut spelt = String::new();
        for letter in space.chars().chain(word.chars()) {
            if !spelt.is_empty() {
                merges.push((spelt.clone(), letter.to_string()));
            }
            spelt.push(letter);
        }
        if space.is_empty() {
            (space, first) = (SPACE, word);
        }
    }
    merges.push((SPACE.to_owned(), first.to_owned()));
    merges
}

fn vocabulary(merges: &[(String, String)]) -> Vocab {
    let mut bytes: Vec<char> = ByteLevel::alphabet().into_iter().collect();
    bytes.sort_unstable();
    let bytes = bytes.into_iter().map(String::from);
    let merged = merges.iter().map(|(left, right)| format!("{left}{right}"));
    bytes.chain(merged).zip(0..).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::{GgufWriter, List, Value, Weights};
    use proptest::prelude::*;

    #[test]
    fn each_word_of_the_sentence_is_one_token() {
        let codec = Codec::tiny().unwrap();
        assert_eq!(codec.tokens(), 291);
        let ids = codec.encode(PANGRAM).unwrap();
        // The last merge of each word, counted by hand; the full stop is the 14th character of the alphabet.
        assert_eq!(ids, [257, 262, 267, 270, 275, 279, 282, 286, 289, 13]);
        assert_eq!(ids.len(), PANGRAM_TOKENS);
        assert_eq!(codec.decode(&ids).unwrap(), PANGRAM);
    }

    #[test]
    fn the_sentence_has_as_many_tokens_after_itself() {
        let codec = Codec::tiny().unwrap();
        let text = [PANGRAM; 128].join(" ");
        let ids = codec.encode(&text).unwrap();
        assert_eq!(ids.len(), 128 * PANGRAM_TOKENS);
        assert_eq!(ids[PANGRAM_TOKENS], 290);
        assert_eq!(codec.decode(&ids).unwrap(), text);
    }

    #[test]
    fn nothing_has_no_tokens() {
        let codec = Codec::tiny().unwrap();
        assert!(codec.encode("").unwrap().is_empty());
        assert_eq!(codec.decode(&[]).unwrap(), "");
    }

    #[test]
    fn an_id_without_a_token_is_refused() {
        let refused = Codec::tiny()
            .unwrap()
            .decode(&[257, 291])
            .unwrap_err()
            .to_string();
        assert_eq!(
            refused,
            "text: 291 is no token, the vocabulary has 291; decode ids of this tokenizer only"
        );
    }

    fn file(kind: &str, before: &str, merges: &[&str]) -> Result<Codec, TextError> {
        let texts =
            |texts: &[&str]| Value::List(List::Text(texts.iter().map(|text| (*text).to_owned()).collect()));
        let bytes = GgufWriter::new()
            .value("tokenizer.ggml.model", &Value::Text(kind.to_owned()))
            .value("tokenizer.ggml.pre", &Value::Text(before.to_owned()))
            .value("tokenizer.ggml.tokens", &texts(&["a", "b", "1", "2", "ab", "12"]))
            .value("tokenizer.ggml.merges", &texts(merges))
            .finish();
        Codec::of_gguf(Weights::from_bytes(bytes).unwrap().metadata())
    }

    #[test]
    fn a_file_brings_its_tokenizer_and_says_how_digits_are_taken() {
        let merges = ["a b", "1 2"];
        assert_eq!(
            file("gpt2", "gpt-2", &merges).unwrap().encode("ab12").unwrap(),
            [4, 5]
        );
        let smollm = file("gpt2", "smollm", &merges).unwrap();
        assert_eq!(smollm.encode("ab12").unwrap(), [4, 2, 3]);
        assert_eq!(smollm.decode(&[4, 2, 3]).unwrap(), "ab12");
    }

    #[test]
    fn a_tokenizer_that_is_not_known_or_contradicts_itself_is_refused() {
        let text = |result: Result<Codec, TextError>| result.unwrap_err().to_string();
        assert!(text(file("llama", "default", &[])).contains("(llama, default)"));
        assert!(text(file("gpt2", "qwen2", &[])).contains("(gpt2, qwen2)"));
        assert!(text(file("gpt2", "gpt-2", &["ab"])).contains("merge 0 of the tokenizer is \"ab\""));
        assert!(text(file("gpt2", "gpt-2", &["a z"])).contains("failed to build its model"));
        assert!(text(Codec::of_gguf(&Metadata::default())).contains("(none, default)"));
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text: String) {
            let codec = Codec::tiny().unwrap();
            let ids = codec.encode(&text).unwrap();
            prop_assert!(ids.len() <= text.len());
            prop_assert_eq!(codec.decode(&ids).unwrap(), text);
        }
    }
}
