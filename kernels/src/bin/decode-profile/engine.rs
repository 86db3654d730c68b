//! What decodes: threads of the CPU, or a GPU.

use crate::cache;
use crate::run::Run;
use kernels::device::{Counters, Device};
use kernels::model::decoder::DecodeError;
use kernels::model::{Decoder, DeviceDecoder, Launch, Parameters};
use rayon::ThreadPool;

/// A decoder, and where it is.
pub(crate) struct Engine<'a> {
    /// Name of the GPU, or `cpu`.
    pub(crate) device: String,
    /// How weights lie where a step reads them: those of the first matrix, where they differ.
    pub(crate) dtype: String,
    /// Bytes of weights that one step reads.
    pub(crate) weight_bytes: usize,
    place: Place<'a>,
}

enum Place<'a> {
    Cpu {
        decoder: Box<Decoder<'a>>,
        pool: &'a ThreadPool,
    },
    /// It stays on the thread that opened it.
    Gpu {
        decoder: Box<DeviceDecoder>,
        device: Device,
    },
}

/// A GPU that nothing decodes on yet.
pub(crate) struct Gpu {
    device: Device,
    launch: Launch,
}

impl Gpu {
    /// Opens it. Kernels that are compiled are kept in the cache of the user.
    pub(crate) fn open(launch: Launch) -> Result<Self, DecodeError> {
        let device = Device::open(cache::of_user())?;
        Ok(Self { device, launch })
    }
}

impl<'a> Engine<'a> {
    /// On the threads of `pool`, with room for `capacity` tokens.
    pub(crate) fn on_cpu(
        parameters: &'a Parameters,
        capacity: usize,
        pool: &'a ThreadPool,
    ) -> Result<Self, DecodeError> {
        let decoder = Box::new(Decoder::new(parameters, capacity)?);
        Ok(Self {
            device: "cpu".to_owned(),
            dtype: parameters.layers[0].query.storage().name().to_lowercase(),
            weight_bytes: parameters.bytes_per_step(),
            place: Place::Cpu { decoder, pool },
        })
    }

    /// On a GPU, with room for `capacity` tokens.
    pub(crate) fn on_gpu(parameters: &Parameters, capacity: usize, gpu: Gpu) -> Result<Self, DecodeError> {
        let Gpu { device, launch } = gpu;
        let decoder = Box::new(DeviceDecoder::new(&device, parameters, capacity, launch)?);
        Ok(Self {
            device: device.name()?,
            dtype: decoder.dtype().name().to_owned(),
            weight_bytes: decoder.bytes_per_step(),
            place: Place::Gpu { decoder, device },
        })
    }

    /// Generates from a clean state: nothing of the run before is reused.
    pub(crate) fn run(&mut self, prompt: &[u32], count: usize) -> Result<Run, DecodeError> {
        match &mut self.place {
            // The clock is on a thread of the pool: the way there is not part of a generation.
            Place::Cpu { decoder, pool } => pool.install(|| {
                decoder.reset();
                Run::of(count, Counters::default, |each| {
                    decoder.greedy(prompt, count, each)
                })
            }),
            Place::Gpu { decoder, device } => {
                decoder.reset()?;
                Run::of(
                    count,
                    || device.counters(),
                    |each| decoder.greedy(prompt, count, each),
                )
            }
        }
    }

    /// What the device was asked for since it was opened; all 0 on the CPU.
    pub(crate) fn counters(&self) -> Counters {
        match &self.place {
            Place::Cpu { .. } => Counters::default(),
            Place::Gpu { device, .. } => device.counters(),
        }
    }

    /// Why steps are not captured that were to be.
    pub(crate) fn fallback(&self) -> Option<&str> {
        match &self.place {
            Place::Cpu { .. } => None,
            Place::Gpu { decoder, .. } => decoder.fallback(),
        }
    }
}
