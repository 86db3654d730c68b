//! The decoder on the device: the ids of the CPU whatever the launch, and what that asks of the device.

use crate::support::gpu;
use kernels::DType;
use kernels::capture::Piece;
use kernels::device::{Buffer, Counters, Device, DeviceError};
use kernels::model::decoder::DecodeError;
use kernels::model::{Decoder, DeviceDecoder, Launch, Matrix, Parameters, Shape};
use kernels::ops::rope::Pairs;

/// One with attention only, one that moves data in every step.
const NAMES: [&str; 2] = ["tiny", "tiny-hybrid"];
const PROMPTS: [&[u32]; 2] = [&[1], &[5, 9, 200, 3, 77, 5, 9]];
const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

fn parameters(name: &str, dtype: DType) -> Parameters {
    Parameters::seeded(&Shape::named(name).unwrap(), dtype)
}

fn opened(device: &Device, parameters: &Parameters, capacity: usize, launch: Launch) -> DeviceDecoder {
    DeviceDecoder::new(device, parameters, capacity, launch).unwrap()
}

fn greedy(decoder: &mut DeviceDecoder, prompt: &[u32], tokens: usize) -> Vec<u32> {
    let mut ids = Vec::new();
    decoder.greedy(prompt, tokens, |id| ids.push(id)).unwrap();
    ids
}

fn on_the_cpu(parameters: &Parameters, prompt: &[u32], tokens: usize) -> Vec<u32> {
    let mut decoder = Decoder::new(parameters, prompt.len() + tokens).unwrap();
    let mut ids = Vec::new();
    decoder.greedy(prompt, tokens, |id| ids.push(id)).unwrap();
    ids
}

/// What `work` asks of the device.
fn asked(device: &Device, work: impl FnOnce()) -> Counters {
    let before = device.counters();
    work();
    device.counters().since(before)
}

/// Leaves NaN in the memory that is given out next: nothing may be read that was not written.
fn litter(device: &Device) {
    let litter: Vec<Buffer> = (0..16).map(|_| device.buffer(1 << 20).unwrap()).collect();
    litter.iter().for_each(|buffer| buffer.fill(0xff).unwrap());
}

/// Some of all ids, over more positions than attention takes at a time.
fn text() -> impl Iterator<Item = u32> {
    (0..40).map(|i| (i * 37 + 11) % 251)
}

#[test]
fn every_launch_gives_the_ids_of_the_cpu() {
    let Some(gpu) = gpu("every_launch_gives_the_ids_of_the_cpu") else {
        return;
    };
    for name in NAMES {
        let parameters = parameters(name, DType::F32);
        for prompt in PROMPTS {
            let wanted = on_the_cpu(&parameters, prompt, 64);
            // The last token is not fed.
            let steps = prompt.len() + 64 - 1;
            for launch in Launch::ALL {
                litter(&gpu.device);
                let mut decoder = opened(&gpu.device, &parameters, steps, launch);
                let found = greedy(&mut decoder, prompt, 64);
                assert_eq!(found, wanted, "{name} {launch:?} {prompt:?}");
                assert_eq!(decoder.position(), steps);
            }
        }
    }
}

/// The named shapes, and what they do not have: norms of heads, neighbours as pairs, a head of its own, queries that
/// are not as long as the token's vector, lengths that no pack fills.
fn shapes() -> Vec<Shape> {
    let [plain, hybrid] = NAMES.map(|name| Shape::named(name).unwrap());
    let odd = Shape {
        name: "odd".to_owned(),
        hidden: 70,
        heads: 6,
        kv_heads: 3,
        head: 12,
        feed_forward: 101,
        vocabulary: 251,
        pairs: Pairs::Neighbours,
        head_norms: true,
        tied: false,
        ..hybrid.clone()
    };
    let alone = Shape {
        name: "alone".to_owned(),
        kv_heads: plain.heads,
        attention_every: 2,
        ..plain.clone()
    };
    vec![plain, hybrid, odd, alone]
}

#[test]
fn scores_are_near_those_of_the_cpu_at_every_step_of_a_text() {
    let Some(gpu) = gpu("scores_are_near_those_of_the_cpu_at_every_step_of_a_text") else {
        return;
    };
    let seeded = shapes()
        .into_iter()
        .flat_map(|shape| DTYPES.map(|dtype| Parameters::seeded(&shape, dtype)));
    for parameters in seeded.chain([mixed()]) {
        let shape = &parameters.shape;
        let mut cpu = Decoder::new(&parameters, 40).unwrap();
        litter(&gpu.device);
        let mut decoders = Launch::ALL.map(|launch| opened(&gpu.device, &parameters, 40, launch));
        for (position, token) in text().enumerate() {
            let wanted = cpu.step(token).unwrap();
            let largest = wanted
                .iter()
                .fold(0.0_f32, |largest, score| largest.max(score.abs()));
            for (decoder, launch) in decoders.iter_mut().zip(Launch::ALL) {
                decoder.step(token).unwrap();
                let found = decoder.logits().unwrap();
                assert_eq!(found.len(), wanted.len());
                for (id, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                    assert!(
                        (found - wanted).abs() <= 1e-4 * largest,
                        "{} {launch:?}: id {id} after token {position}: {found} instead of {wanted}",
                        shape.name
                    );
                }
            }
        }
    }
}

/// Matrices of one product in different types.
fn mixed() -> Parameters {
    let mut parameters = parameters("tiny-hybrid", DType::F16);
    let wide = Parameters::seeded(&parameters.shape, DType::F32);
    for (layer, wide) in parameters.layers.iter_mut().zip(wide.layers) {
        layer.key = wide.key;
        layer.up = wide.up;
    }
    parameters
}

/// Bits of all scores after each token of the text.
fn scores(device: &Device, parameters: &Parameters, launch: Launch) -> Vec<Vec<u32>> {
    let mut decoder = opened(device, parameters, 40, launch);
    text()
        .map(|token| {
            decoder.step(token).unwrap();
            let scores = decoder.logits().unwrap();
            scores.iter().map(|score| score.to_bits()).collect()
        })
        .collect()
}

#[test]
fn every_bit_of_every_score_is_the_same_whatever_the_launch() {
    let Some(gpu) = gpu("every_bit_of_every_score_is_the_same_whatever_the_launch") else {
        return;
    };
    for name in NAMES {
        for dtype in DTYPES {
            let parameters = parameters(name, dtype);
            let [per_call, persistent, captured] =
                Launch::ALL.map(|launch| scores(&gpu.device, &parameters, launch));
            assert!(persistent == captured, "{name} {dtype}: captured");
            assert!(persistent == per_call, "{name} {dtype}: per call");
            assert!(persistent[0] != persistent[1], "{name} {dtype}");
        }
    }
}

#[test]
fn a_generation_is_captured_once_as_a_whole_and_replayed_from_the_third_step_on() {
    let name = "a_generation_is_captured_once_as_a_whole_and_replayed_from_the_third_step_on";
    let Some(gpu) = gpu(name) else { return };
    for name in NAMES {
        let parameters = parameters(name, DType::F32);
        for prompt in PROMPTS {
            for launch in Launch::ALL {
                let mut decoder = opened(&gpu.device, &parameters, 80, launch);
                let counted = asked(&gpu.device, || {
                    greedy(&mut decoder, prompt, 64);
                });
                let steps = (prompt.len() + 64 - 1) as u64;
                let wanted = match launch {
                    Launch::Captured => [1, steps - 2, 0, 1, 0],
                    Launch::PerCall | Launch::Persistent => [0; 5],
                };
                let found = [
                    counted.captures,
                    counted.replays,
                    counted.fallbacks,
                    counted.segments,
                    counted.seams,
                ];
                assert_eq!(found, wanted, "{name} {launch:?}: {:?}", decoder.pieces());
                assert_eq!(decoder.fallback(), None);
                match (launch, decoder.pieces()) {
                    (Launch::Captured, [Piece::Segment { segment, nodes }]) => {
                        assert_eq!((*segment, nodes.start), (0, 0));
                    }
                    (Launch::PerCall | Launch::Persistent, []) => {}
                    (_, pieces) => panic!("{name} {launch:?}: {pieces:?}"),
                }
            }
        }
    }
}

#[test]
fn a_warm_step_asks_nothing_of_the_device_but_to_run() {
    let Some(gpu) = gpu("a_warm_step_asks_nothing_of_the_device_but_to_run") else {
        return;
    };
    for name in NAMES {
        let parameters = parameters(name, DType::F32);
        for launch in [Launch::Persistent, Launch::Captured] {
            let mut decoder = opened(&gpu.device, &parameters, 20, launch);
            // Eagerly, recorded, replayed.
            (1..4).for_each(|token| decoder.step(token).unwrap());
            for token in 4..12 {
                let counted = asked(&gpu.device, || decoder.step(token).unwrap());
                let wanted = Counters {
                    replays: u64::from(launch == Launch::Captured),
                    ..Counters::default()
                };
                assert_eq!(counted, wanted, "{name} {launch:?}");
            }
            gpu.device.wait().unwrap();
        }
    }
}

#[test]
fn a_token_more_is_one_wait_more_a_few_bytes_and_no_memory() {
    let Some(gpu) = gpu("a_token_more_is_one_wait_more_a_few_bytes_and_no_memory") else {
        return;
    };
    for name in NAMES {
        let parameters = parameters(name, DType::F32);
        for launch in [Launch::Persistent, Launch::Captured] {
            let mut decoder = opened(&gpu.device, &parameters, 20, launch);
            // The first generation is not like the others: its metadata is placed.
            let [_, ten, twenty] = [10, 10, 20].map(|tokens| {
                decoder.reset().unwrap();
                asked(&gpu.device, || {
                    greedy(&mut decoder, &[1], tokens);
                })
            });
            let what = format!("{name} {launch:?}: {ten:?} {twenty:?}");
            assert_eq!(twenty.syncs, ten.syncs + 10, "{what}");
            assert_eq!(twenty.allocations, ten.allocations, "{what}");
            assert_eq!(twenty.frees, ten.frees, "{what}");
            assert_eq!(twenty.h2d_calls, ten.h2d_calls, "{what}");
            assert!(twenty.d2h_bytes <= ten.d2h_bytes + 10 * 64, "{what}");
            let replays = if launch == Launch::Captured { 10 } else { 0 };
            assert_eq!(twenty.replays, ten.replays + replays, "{what}");
        }
    }
}

#[test]
fn per_call_allocates_in_every_step_that_moves_data_and_only_there() {
    let Some(gpu) = gpu("per_call_allocates_in_every_step_that_moves_data_and_only_there") else {
        return;
    };
    for (name, moves_data) in NAMES.into_iter().zip([false, true]) {
        let parameters = parameters(name, DType::F32);
        let mut decoder = opened(&gpu.device, &parameters, 20, Launch::PerCall);
        for token in 1..12 {
            let counted = asked(&gpu.device, || decoder.step(token).unwrap());
            assert_eq!(counted.allocations > 0, moves_data, "{name} {counted:?}");
            assert_eq!(counted.frees, counted.allocations, "{name} {counted:?}");
        }
    }
}

#[test]
fn after_a_reset_the_same_prompt_gives_the_same_ids_with_a_capture_of_its_own() {
    let name = "after_a_reset_the_same_prompt_gives_the_same_ids_with_a_capture_of_its_own";
    let Some(gpu) = gpu(name) else { return };
    for name in NAMES {
        let parameters = parameters(name, DType::F32);
        let wanted = on_the_cpu(&parameters, PROMPTS[1], 32);
        for launch in Launch::ALL {
            let mut decoder = opened(&gpu.device, &parameters, 40, launch);
            assert_eq!(greedy(&mut decoder, PROMPTS[1], 32), wanted, "{name} {launch:?}");
            // Something else in between, of which nothing may stay: ended in every phase of a capture.
            for tokens in 0..4 {
                decoder.reset().unwrap();
                assert_eq!(decoder.position(), 0);
                greedy(&mut decoder, &[200], tokens);
            }
            decoder.reset().unwrap();
            let mut found = Vec::new();
            let counted = asked(&gpu.device, || found = greedy(&mut decoder, PROMPTS[1], 32));
            assert_eq!(found, wanted, "{name} {launch:?}");
            let steps = (PROMPTS[1].len() + 32 - 1) as u64;
            let captured = match launch {
                Launch::Captured => (1, steps - 2, 0),
                Launch::PerCall | Launch::Persistent => (0, 0, 0),
            };
            assert_eq!(
                (counted.captures, counted.replays, counted.fallbacks),
                captured,
                "{name} {launch:?}"
            );
        }
    }
}

#[test]
fn what_the_cpu_refuses_is_refused_and_the_decoder_goes_on() {
    let Some(gpu) = gpu("what_the_cpu_refuses_is_refused_and_the_decoder_goes_on") else {
        return;
    };
    for name in NAMES {
        let parameters = parameters(name, DType::F32);
        for launch in Launch::ALL {
            let mut cpu = Decoder::new(&parameters, 5).unwrap();
            let mut untroubled = opened(&gpu.device, &parameters, 5, launch);
            let mut decoder = opened(&gpu.device, &parameters, 5, launch);
            assert_eq!(decoder.greedy(&[], 1, |_| {}), Err(DecodeError::NoPrompt));
            // Before each step: of the first, the recorded and the replayed ones.
            for (position, token) in (1..6).enumerate() {
                for missing in [256, u32::MAX] {
                    let refused = decoder.step(missing);
                    assert_eq!(refused, cpu.step(missing).map(|_| ()), "{name} {launch:?}");
                    assert!(matches!(refused, Err(DecodeError::Token { .. })), "{refused:?}");
                    assert_eq!(decoder.position(), position);
                }
                decoder.step(token).unwrap();
                untroubled.step(token).unwrap();
            }
            assert_eq!(decoder.step(6), Err(DecodeError::Full { capacity: 5 }));
            assert_eq!(decoder.position(), 5);
            let bits = |decoder: &DeviceDecoder| {
                let scores = decoder.logits().unwrap();
                scores.iter().map(|score| score.to_bits()).collect::<Vec<u32>>()
            };
            assert_eq!(bits(&decoder), bits(&untroubled), "{name} {launch:?}");

            // A generation that ends in the middle has told what it knew.
            let (mut found, mut wanted) = (Vec::new(), Vec::new());
            decoder.reset().unwrap();
            let refused = decoder.greedy(&[1], 9, |id| found.push(id));
            assert_eq!(refused, cpu.greedy(&[1], 9, |id| wanted.push(id)));
            assert_eq!(refused, Err(DecodeError::Full { capacity: 5 }));
            assert_eq!((found.len(), &found), (5, &wanted), "{name} {launch:?}");
            decoder.reset().unwrap();
            let refused = decoder.greedy(&[1, 256], 1, |_| {});
            assert!(
                matches!(refused, Err(DecodeError::Token { token: 256, .. })),
                "{refused:?}"
            );
            decoder.reset().unwrap();
            assert_eq!(
                greedy(&mut decoder, &[1], 5),
                wanted,
                "{name} {launch:?}: it goes on"
            );
        }
    }
}

#[test]
fn a_model_that_cannot_be_run_is_refused_before_anything_is_allocated() {
    let Some(gpu) = gpu("a_model_that_cannot_be_run_is_refused_before_anything_is_allocated") else {
        return;
    };
    let hybrid = parameters("tiny-hybrid", DType::F32);
    let mut no_decay = hybrid.clone();
    no_decay.layers[0].decay = None;
    let mut no_pairs = hybrid.clone();
    no_pairs.shape.head = 15;
    for launch in Launch::ALL {
        let counted = asked(&gpu.device, || {
            let refused = DeviceDecoder::new(&gpu.device, &hybrid, 513, launch).err();
            let wanted = DecodeError::Context {
                capacity: 513,
                context: 512,
            };
            assert_eq!(refused, Some(wanted));
            for (parameters, why) in [(&no_decay, "has no decay"), (&no_pairs, "has no pairs")] {
                let refused = DeviceDecoder::new(&gpu.device, parameters, 8, launch);
                let refused = refused.err().unwrap();
                assert!(matches!(refused, DecodeError::Shape(_)), "{refused}");
                assert!(refused.to_string().contains(why), "{refused}");
            }
        });
        assert_eq!(
            (counted.allocations, counted.frees),
            (0, 0),
            "nothing was asked of the device"
        );
    }
}

#[test]
fn broken_weights_are_reported_instead_of_a_token() {
    let Some(gpu) = gpu("broken_weights_are_reported_instead_of_a_token") else {
        return;
    };
    for name in NAMES {
        let mut broken = parameters(name, DType::F32);
        broken.norm.data_mut().fill(f32::NAN);
        for launch in Launch::ALL {
            let mut decoder = opened(&gpu.device, &broken, 8, launch);
            let mut told = 0;
            let refused = decoder.greedy(&[1, 2], 4, |_| told += 1).unwrap_err();
            assert!(
                matches!(refused, DecodeError::Device(DeviceError::Violated { .. })),
                "{name} {launch:?}: {refused}"
            );
            assert!(refused.to_string().contains("no number"), "{refused}");
            assert_eq!(told, 0, "{name} {launch:?}");
        }
    }
}

/// The vector of this token is NaN.
fn broken_at(token: usize, parameters: Parameters) -> Parameters {
    let width = parameters.embedding.columns();
    let mut numbers = vec![0.0; parameters.embedding.rows() * width];
    for (row, numbers) in numbers.chunks_exact_mut(width).enumerate() {
        parameters.embedding.row(row, numbers);
    }
    numbers[token * width..][..width].fill(f32::NAN);
    let embedding = Matrix::from_fn(parameters.embedding.rows(), width, DType::F32, |place| {
        numbers[place]
    });
    Parameters {
        embedding,
        ..parameters
    }
}

#[test]
fn a_replay_reports_too_and_a_reset_forgets_even_what_is_not_a_number() {
    let Some(gpu) = gpu("a_replay_reports_too_and_a_reset_forgets_even_what_is_not_a_number") else {
        return;
    };
    for name in NAMES {
        let parameters = broken_at(9, parameters(name, DType::F32));
        let wanted = on_the_cpu(&parameters, &[1, 2], 16);
        for launch in Launch::ALL {
            let mut decoder = opened(&gpu.device, &parameters, 20, launch);
            let mut told = 0;
            let counted = asked(&gpu.device, || {
                let refused = decoder.greedy(&[1, 2, 3, 4, 9], 4, |_| told += 1);
                assert!(
                    matches!(refused, Err(DecodeError::Device(DeviceError::Violated { .. }))),
                    "{name} {launch:?}: {refused:?}"
                );
            });
            assert_eq!(told, 0);
            let replays = if launch == Launch::Captured { 3 } else { 0 };
            assert_eq!(counted.replays, replays, "{name} {launch:?}");
            decoder.reset().unwrap();
            let found = greedy(&mut decoder, &[1, 2], 16);
            assert_eq!(found, wanted, "{name} {launch:?}");
        }
    }
}

#[test]
fn what_a_decoder_allocated_goes_with_it() {
    let Some(gpu) = gpu("what_a_decoder_allocated_goes_with_it") else {
        return;
    };
    for name in NAMES {
        let parameters = parameters(name, DType::F32);
        for launch in Launch::ALL {
            let counted = asked(&gpu.device, || {
                let mut decoder = opened(&gpu.device, &parameters, 20, launch);
                greedy(&mut decoder, &[1], 10);
            });
            assert!(counted.allocations > 0);
            assert_eq!(counted.frees, counted.allocations, "{name} {launch:?}");
            gpu.device.check_drops().unwrap();
        }
    }
}

#[test]
fn a_step_reads_as_many_bytes_of_weights_as_on_the_cpu() {
    let Some(gpu) = gpu("a_step_reads_as_many_bytes_of_weights_as_on_the_cpu") else {
        return;
    };
    for shape in shapes() {
        for dtype in DTYPES {
            let parameters = Parameters::seeded(&shape, dtype);
            let decoder = opened(&gpu.device, &parameters, 8, Launch::Captured);
            assert_eq!(decoder.bytes_per_step(), parameters.bytes_per_step());
        }
    }
}

#[test]
fn a_cache_that_the_device_has_no_memory_for_says_so_and_leaves_it_usable() {
    let Some(gpu) = gpu("a_cache_that_the_device_has_no_memory_for_says_so_and_leaves_it_usable") else {
        return;
    };
    let (_, total) = gpu.device.memory().unwrap();
    // Short heads, so that the host makes few angles, and many of them, so that a position takes much of a cache.
    let (heads, head) = (32_768, 2);
    let capacity = total / (heads * head * DType::F32.bytes()) + 1;
    let shape = Shape {
        name: "wide".to_owned(),
        hidden: 4,
        layers: 1,
        heads,
        kv_heads: heads,
        head,
        feed_forward: 4,
        vocabulary: 4,
        context: capacity,
        ..Shape::named("tiny").unwrap()
    };
    let wide = Parameters::seeded(&shape, DType::F32);
    let counted = asked(&gpu.device, || {
        let refused = DeviceDecoder::new(&gpu.device, &wide, capacity, Launch::Captured);
        let refused = refused.err().unwrap();
        assert!(
            matches!(refused, DecodeError::Device(DeviceError::OutOfMemory { .. })),
            "{refused}"
        );
        assert!(refused.to_string().contains("out of device memory"), "{refused}");
    });
    assert_eq!(counted.frees, counted.allocations);
    gpu.device.check_drops().unwrap();

    let parameters = parameters("tiny", DType::F32);
    let mut decoder = opened(&gpu.device, &parameters, 20, Launch::Captured);
    assert_eq!(greedy(&mut decoder, &[1], 8), on_the_cpu(&parameters, &[1], 8));
}
