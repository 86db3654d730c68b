//! Which tokens a grammar allows next: `llguidance`, for regular expressions over a vocabulary of byte strings.

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, SimpleVob, TokEnv, TokRxInfo, TokTrie};
use llguidance::{Matcher, ParserFactory};
use std::fmt::Display;
use std::sync::Arc;

/// Most tokens of a vocabulary: the trie of the library has 24 bits for an id, and keeps one id to itself.
const MOST_TOKENS: usize = 0x00FF_FFFF;

/// Most bytes of a token, and of all together: limits of the same trie, which panics beyond them.
const MOST_BYTES: usize = 1024;
const MOST_BYTES_TOGETHER: usize = (1 << 22) - 2;

/// What a vocabulary or a grammar refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// A vocabulary with too few tokens, or too many.
    #[error("vocabulary: it has {found} tokens, and must have from {least} to {most}")]
    Tokens {
        /// How many it has.
        found: usize,
        /// Fewest that would do.
        least: usize,
        /// Most that would do.
        most: usize,
    },
    /// A token that is no part of the vocabulary.
    #[error("vocabulary: {id} is no token, and must be below {tokens}")]
    Unknown {
        /// The token.
        id: u32,
        /// How many there are.
        tokens: usize,
    },
    /// Tokens that are too long for the trie.
    #[error("vocabulary: {what} has {bytes} bytes, and may have {most}; leave out what is not text")]
    Long {
        /// A token, or all together.
        what: String,
        /// How many it has.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },
    /// A pattern without anything in it.
    #[error("grammar: the pattern is empty, and would allow no text; write what is to be allowed")]
    Empty,
    /// A token that the grammar does not allow here. It may be asked further.
    #[error("grammar: token {id} is not allowed here; take one that the mask allows")]
    Refused {
        /// The token.
        id: u32,
    },
    /// Logits of another vocabulary.
    #[error("grammar: there are {found} logits, and must be {tokens}, one for each token of the vocabulary")]
    Logits {
        /// How many there are.
        found: usize,
        /// Tokens of the vocabulary.
        tokens: usize,
    },
    /// An error of the library: a pattern that is none, or one that is beyond its limits. A grammar that gave one when
    /// it was asked gives it ever after.
    #[error("grammar: {what} failed: {why}")]
    Library {
        /// What was to be done.
        what: &'static str,
        /// What it says.
        why: String,
    },
}

/// Tokens, and what the library works out about them once for all grammars.
pub struct Vocabulary {
    factory: ParserFactory,
}

impl Vocabulary {
    /// A vocabulary of these tokens, by id. A token without bytes is never allowed, nor is one that starts with the
    /// byte 255, as those do that are no text. The one at `end`, best one of them, ends a text: it is allowed where the
    /// text is complete.
    ///
    /// # Errors
    /// [`GrammarError::Tokens`] if there is none, or more than 16 777 215; [`GrammarError::Unknown`] if `end` is none
    /// of them; [`GrammarError::Long`] if one has more than 1 024 bytes, or all have more than 4 194 302;
    /// [`GrammarError::Library`].
    pub fn new(tokens: &[Vec<u8>], end: u32) -> Result<Self, GrammarError> {
        let size = check(tokens, end)?;
        let trie = TokTrie::from(&TokRxInfo::new(size, end), tokens);
        let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let mut factory =
            ParserFactory::new_simple(&environment).map_err(|error| library("the vocabulary", &error))?;
        // Nothing is written to standard error, and errors do not carry the whole state.
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        Ok(Self { factory })
    }

    /// A vocabulary of some size for measuring: the 256 bytes, `hello`, ` world`, words of made-up syllables with a
    /// space before every other one, and, as the last, the token that ends a text. No two are the same.
    ///
    /// # Errors
    /// [`GrammarError::Tokens`] if the size is below 259, or above 1 000 000.
    pub fn made_up(size: usize) -> Result<Self, GrammarError> {
        let (least, most) = (BYTES + 3, 1_000_000);
        let end = u32::try_from(size)
            .ok()
            .filter(|_| (least..=most).contains(&size));
        let Some(end) = end else {
            return Err(GrammarError::Tokens {
                found: size,
                least,
                most,
            });
        };
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let named = [b"hello".to_vec(), b" world".to_vec()];
        let tokens = bytes.chain(named).chain((0..).map(made_up_word)).take(size - 1);
        let tokens: Vec<Vec<u8>> = tokens.chain([b"\xFF<|end|>".to_vec()]).collect();
        Self::new(&tokens, end - 1)
    }

    /// How many tokens there are.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.factory.tok_env().tok_trie().vocab_size()
    }

    /// The bytes of a token; none for an id that is no token.
    #[must_use]
    pub fn bytes(&self, id: u32) -> &[u8] {
        self.factory.tok_env().tok_trie().token(id)
    }

    /// The token that ends a text.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.factory.tok_env().tok_trie().eos_token()
    }
}

/// Tokens of one byte each.
const BYTES: usize = 256;

/// How many there are, if they are what the trie takes.
fn check(tokens: &[Vec<u8>], end: u32) -> Result<u32, GrammarError> {
    let found = tokens.len();
    let most = MOST_TOKENS;
    let size = u32::try_from(found).ok().filter(|_| (1..=most).contains(&found));
    let size = size.ok_or(GrammarError::Tokens {
        found,
        least: 1,
        most,
    })?;
    if end >= size {
        return Err(GrammarError::Unknown {
            id: end,
            tokens: found,
        });
    }
    let long = |what, bytes, most| Err(GrammarError::Long { what, bytes, most });
    if let Some((id, token)) = tokens
        .iter()
        .enumerate()
        .find(|(_, token)| token.len() > MOST_BYTES)
    {
        return long(format!("token {id}"), token.len(), MOST_BYTES);
    }
    let together: usize = tokens.iter().map(Vec::len).sum();
    if together > MOST_BYTES_TOGETHER {
        return long("the whole".to_owned(), together, MOST_BYTES_TOGETHER);
    }
    Ok(size)
}

/// The numbers in bijective base 95, a syllable for each digit: each word once. Every other one has a space before it.
fn made_up_word(number: usize) -> Vec<u8> {
    const CONSONANTS: &[u8; 19] = b"bcdfghjklmnprstvwyz";
    const VOWELS: &[u8; 5] = b"aeiou";
    let syllables = CONSONANTS.len() * VOWELS.len();
    let mut word = if number % 2 == 1 { vec![b' '] } else { Vec::new() };
    let mut rest = number / 2;
    loop {
        let digit = rest % syllables;
        word.extend([CONSONANTS[digit / VOWELS.len()], VOWELS[digit % VOWELS.len()]]);
        if rest < syllables {
            return word;
        }
        rest = rest / syllables - 1;
    }
}

/// A grammar, and how far a text has come in it.
pub struct Grammar {
    matcher: Matcher,
    tokens: usize,
}

impl Grammar {
    /// The texts that a regular expression matches from end to end, in most of the syntax of the `regex` crate.
    ///
    /// # Errors
    /// [`GrammarError::Empty`] if the pattern is empty; [`GrammarError::Library`] if it is none, or too large.
    pub fn regex(vocabulary: &Vocabulary, pattern: &str) -> Result<Self, GrammarError> {
        if pattern.is_empty() {
            return Err(GrammarError::Empty);
        }
        let parser = vocabulary
            .factory
            .create_parser(TopLevelGrammar::from_regex(pattern));
        let parser = parser.map_err(|error| library("the pattern", &error))?;
        Ok(Self {
            matcher: Matcher::new(Ok(parser)),
            tokens: vocabulary.tokens(),
        })
    }

    /// The tokens that may come next, judged anew: those with which the text can still become one of the grammar, and
    /// the one that ends it if it is one already. That one alone once the text has ended.
    ///
    /// # Errors
    /// [`GrammarError::Library`], also where no token may come next.
    pub fn allowed(&mut self) -> Result<Mask, GrammarError> {
        // The library would hand out its last mask again until a token is accepted; decoding never asks it to.
        self.matcher.invalidate_bias_cache();
        let mask = self.matcher.compute_mask_or_eos();
        mask.map(Mask).map_err(|error| library("the mask", &error))
    }

    /// Goes on by a token.
    ///
    /// # Errors
    /// [`GrammarError::Refused`] if it is not allowed, or no token at all; nothing has changed then.
    /// [`GrammarError::Library`].
    pub fn accept(&mut self, id: u32) -> Result<(), GrammarError> {
        // From a token that is not there the library does not recover.
        if (id as usize) < self.tokens {
            let accepted = self.matcher.try_consume_tokens(&[id]);
            if accepted.map_err(|error| library("the token", &error))? == 1 {
                return Ok(());
            }
        }
        Err(GrammarError::Refused { id })
    }

    /// Whether the text has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.matcher.is_stopped() && !self.matcher.is_error()
    }
}

/// The tokens of a vocabulary that are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask(SimpleVob);

impl Mask {
    /// Whether this token is. One that is not in the vocabulary is not.
    #[must_use]
    pub fn allows(&self, id: u32) -> bool {
        (id as usize) < self.0.len() && self.0.is_allowed(id)
    }

    /// Those that are, in order.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.0.iter()
    }

    /// How many are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.num_set()
    }

    /// Writes minus infinity for those that are not, as [`sampling`](crate::sampling) has it.
    ///
    /// # Errors
    /// [`GrammarError::Logits`] if there are not as many logits as tokens; nothing is written then.
    pub fn apply(&self, logits: &mut [f32]) -> Result<(), GrammarError> {
        let (found, tokens) = (logits.len(), self.0.len());
        if found != tokens {
            return Err(GrammarError::Logits { found, tokens });
        }
        self.0.iter_unset_entries(|id| logits[id] = f32::NEG_INFINITY);
        Ok(())
    }
}

fn library(what: &'static str, error: &impl Display) -> GrammarError {
    let why = error.to_string();
    // It says so where it leaves out its state.
    let why = why
        .trim_end()
        .trim_end_matches("<non-verbose/>")
        .trim_end()
        .to_owned();
    GrammarError::Library { what, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const HELLO: u32 = 256;
    const WORLD: u32 = 257;

    /// Whether `hello( world)*` begins with this, and whether it is one of its texts.
    fn begins(text: &[u8]) -> (bool, bool) {
        let longest = format!("hello{}", " world".repeat(text.len()));
        let begins = longest.as_bytes().starts_with(text);
        (
            begins,
            begins && text.len() >= 5 && (text.len() - 5).is_multiple_of(6),
        )
    }

    #[test]
    fn the_mask_is_what_trying_every_token_finds() {
        let vocabulary = Vocabulary::made_up(32_000).unwrap();
        assert_eq!(vocabulary.tokens(), 32_000);
        let mut grammar = Grammar::regex(&vocabulary, "hello( world)*").unwrap();
        let mut text = Vec::new();
        let space = u32::from(b' ');
        for next in [HELLO, WORLD, space, u32::from(b'w')] {
            let mask = grammar.allowed().unwrap();
            for id in 0..32_000 {
                let expected = if id == vocabulary.end() {
                    begins(&text).1
                } else {
                    begins(&[text.as_slice(), vocabulary.bytes(id)].concat()).0
                };
                assert_eq!(
                    mask.allows(id),
                    expected,
                    "{id} after {:?}",
                    String::from_utf8_lossy(&text)
                );
            }
            assert_eq!(mask.ids().count(), mask.count());
            assert_eq!(mask, grammar.allowed().unwrap());
            grammar.accept(next).unwrap();
            text.extend(vocabulary.bytes(next));
        }
    }

    #[test]
    fn a_token_that_is_not_allowed_is_refused_and_the_grammar_goes_on() {
        let vocabulary = Vocabulary::made_up(300).unwrap();
        let mut grammar = Grammar::regex(&vocabulary, "hello( world)*").unwrap();
        for id in [WORLD, vocabulary.end(), 255, 300, u32::MAX] {
            assert_eq!(grammar.accept(id), Err(GrammarError::Refused { id }));
        }
        grammar.accept(HELLO).unwrap();
        grammar.accept(WORLD).unwrap();
        assert!(!grammar.has_ended());
        grammar.accept(vocabulary.end()).unwrap();
        assert!(grammar.has_ended());
        assert_eq!(
            grammar.allowed().unwrap().ids().collect::<Vec<_>>(),
            [vocabulary.end()]
        );
        assert_eq!(grammar.accept(WORLD), Err(GrammarError::Refused { id: WORLD }));
    }

    #[test]
    fn a_mask_puts_all_other_logits_out() {
        let vocabulary = Vocabulary::made_up(300).unwrap();
        let mask = Grammar::regex(&vocabulary, "hello").unwrap().allowed().unwrap();
        let mut logits = vec![1.0; 300];
        mask.apply(&mut logits).unwrap();
        for (id, logit) in (0..).zip(&logits) {
            assert_eq!(*logit > f32::NEG_INFINITY, mask.allows(id));
        }
        assert!(!mask.allows(300));
        let refused = mask.apply(&mut [0.0; 299]).unwrap_err();
        assert_eq!(
            refused,
            GrammarError::Logits {
                found: 299,
                tokens: 300
            }
        );
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let vocabulary = Vocabulary::made_up(300).unwrap();
        assert_eq!(Grammar::regex(&vocabulary, "").err(), Some(GrammarError::Empty));
        let refused = Grammar::regex(&vocabulary, "hello(").err().unwrap();
        assert!(
            refused.to_string().starts_with("grammar: the pattern failed: "),
            "{refused}"
        );
    }

    #[test]
    fn made_up_tokens_are_all_different_and_the_text_ends_with_the_last() {
        let vocabulary = Vocabulary::made_up(32_000).unwrap();
        let tokens: HashSet<&[u8]> = (0..32_000).map(|id| vocabulary.bytes(id)).collect();
        assert_eq!(tokens.len(), 32_000);
        assert_eq!(vocabulary.end(), 31_999);
        assert_eq!(vocabulary.bytes(HELLO), b"hello");
        assert_eq!(vocabulary.bytes(WORLD), b" world");
        assert_eq!(made_up_word(0), b"ba");
        assert_eq!(made_up_word(1), b" ba");
        assert_eq!(made_up_word(2 * 94), b"zu");
        assert_eq!(made_up_word(2 * 95), b"baba");
        assert_eq!(made_up_word(2 * 96), b"beba");
    }

    #[test]
    fn a_vocabulary_beyond_the_trie_is_refused() {
        let token = |bytes: usize| vec![b'a'; bytes];
        let new = |tokens: &[Vec<u8>], end| Vocabulary::new(tokens, end).err();
        assert_eq!(
            new(&[], 0),
            Some(GrammarError::Tokens {
                found: 0,
                least: 1,
                most: MOST_TOKENS
            })
        );
        assert_eq!(
            new(&[token(1)], 1),
            Some(GrammarError::Unknown { id: 1, tokens: 1 })
        );
        assert_eq!(new(&[token(1024), token(1)], 1), None);
        assert!(matches!(
            new(&[token(1025)], 0),
            Some(GrammarError::Long { bytes: 1025, .. })
        ));
        let heavy: Vec<Vec<u8>> = std::iter::repeat_n(token(1024), 4096).collect();
        assert!(matches!(
            new(&heavy, 0),
            Some(GrammarError::Long { bytes: 4_194_304, .. })
        ));
        assert!(matches!(
            Vocabulary::made_up(258).err(),
            Some(GrammarError::Tokens { least: 259, .. })
        ));
        assert!(Vocabulary::made_up(259).is_ok());
    }
}
