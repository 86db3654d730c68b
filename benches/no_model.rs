//! Nine scenarios of decoding that need no model - text to tokens and back, choosing a token, pages of a cache, the
//! mask of a grammar - from tens of nanoseconds to a millisecond.
//!
//! What takes long to make is made when it is first measured: a process measures a few of these and should not pay for
//! all.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kernels::grammar::{Grammar, Vocabulary};
use kernels::pages::PagePool;
use kernels::sampling::{Chain, Context, Processor, Sampler, greedy};
use kernels::text::{Codec, PANGRAM, PANGRAM_TOKENS};
use std::cell::LazyCell;
use std::fmt::Display;
use std::hint::black_box;

/// Tokens of the vocabularies.
const VOCABULARY: usize = 32_000;

/// How often the sentence is in the text.
const SENTENCES: usize = 128;

/// A scenario without what it needs must not be measured.
fn ready<T, E: Display>(made: Result<T, E>) -> T {
    made.unwrap_or_else(|error| panic!("{error}"))
}

#[expect(clippy::cast_precision_loss, reason = "below 997")]
fn logits() -> Vec<f32> {
    (0..VOCABULARY)
        .map(|i| ((i * 17 % 997) as f32 - 498.0) / 73.0)
        .collect()
}

fn tokenization(c: &mut Criterion) {
    let mut group = c.benchmark_group("tokenization");
    let codec = LazyCell::new(|| ready(Codec::tiny()));
    let text = LazyCell::new(|| [PANGRAM; SENTENCES].join(" "));
    let ids = LazyCell::new(|| ready(codec.encode(&text)));
    group.throughput(Throughput::Elements((SENTENCES * PANGRAM_TOKENS) as u64));
    group.bench_function("encode_tokens_per_second", |b| {
        let (codec, text) = (&*codec, text.as_str());
        b.iter(|| ready(codec.encode(black_box(text))));
    });
    group.bench_function("decode_tokens_per_second", |b| {
        let (codec, ids) = (&*codec, ids.as_slice());
        b.iter(|| ready(codec.decode(black_box(ids))));
    });
    group.finish();
}

/// A processor writes into the logits, so each turn has its own copy, which is made and dropped off the clock.
fn sampling_latency(c: &mut Criterion) {
    let mut group = c.benchmark_group("sampling_latency");
    let logits = LazyCell::new(logits);
    group.throughput(Throughput::Elements(1));
    group.bench_function("greedy_per_token", |b| {
        let logits = logits.as_slice();
        b.iter(|| greedy(black_box(logits)));
    });
    for (name, processor) in [
        ("top_k_per_token", Processor::TopK(50)),
        ("top_p_per_token", Processor::TopP(0.9)),
        ("min_p_per_token", Processor::MinP(0.05)),
    ] {
        let mut chain = ready(Chain::new(&[processor]));
        let mut sampler = Sampler::seeded(0);
        group.bench_function(name, |b| {
            let logits = logits.as_slice();
            b.iter_batched_ref(
                || logits.to_vec(),
                |logits| {
                    let processed = chain.apply(logits, Context::default());
                    ready(processed.and_then(|()| sampler.draw(logits)))
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn kv_cache(c: &mut Criterion) {
    let mut group = c.benchmark_group("kv_cache");
    let mut pool = ready(PagePool::new(16, 64));
    group.throughput(Throughput::Elements(16));
    group.bench_function("alloc_dealloc_pages", |b| {
        b.iter(|| {
            let id = pool.create();
            ready(pool.append(id, black_box(256)).and_then(|()| pool.remove(id)));
        });
    });
    group.finish();
}

fn logit_processing(c: &mut Criterion) {
    let mut group = c.benchmark_group("logit_processing");
    let logits = LazyCell::new(logits);
    let prompt: Vec<u32> = (0..128).map(|i| i % 97).collect();
    let generated: Vec<u32> = (0..64).map(|i| i % 31).collect();
    let mut chain = ready(Chain::new(&[
        Processor::Repetition(1.1),
        Processor::Frequency(0.2),
        Processor::Presence(0.1),
        Processor::Temperature(0.8),
        Processor::TopK(50),
        Processor::TopP(0.9),
        Processor::MinP(0.05),
    ]));
    group.throughput(Throughput::Elements(1));
    group.bench_function("seven_processor_chain_per_step", |b| {
        let logits = logits.as_slice();
        let context = Context {
            prompt: &prompt,
            generated: &generated,
        };
        b.iter_batched_ref(
            || logits.to_vec(),
            |logits| ready(chain.apply(logits, black_box(context))),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn grammar_masking(c: &mut Criterion) {
    let mut group = c.benchmark_group("grammar_masking");
    let mut grammar = None;
    group.throughput(Throughput::Elements(1));
    group.bench_function(BenchmarkId::new("llguidance_compute_mask", VOCABULARY), |b| {
        let grammar = grammar.get_or_insert_with(|| {
            let vocabulary = ready(Vocabulary::made_up(VOCABULARY));
            ready(Grammar::regex(&vocabulary, "hello( world)*"))
        });
        b.iter(|| grammar.allowed());
    });
    group.finish();
}

criterion_group!(
    all,
    tokenization,
    sampling_latency,
    kv_cache,
    logit_processing,
    grammar_masking
);
criterion_main!(all);
