//! One step that is run again and again: eagerly, then recorded, then replayed.

use super::{Binding, Fingerprint, Lifecycle, Node, Recorder, Support};
use crate::device::DeviceError;
use std::collections::BTreeMap;
use std::ops::Range;

/// What the next step will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Run eagerly, which warms its kernels.
    NeedsWarmup,
    /// Recorded.
    Armed,
    /// Replayed.
    Ready,
    /// Run eagerly, as all later ones until a reset, and why.
    Unsupported(String),
}

/// What the last step was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// Every node was launched by itself.
    Eagerly,
    /// It was recorded, and each segment replayed at once, so that its results are there.
    Recorded,
    /// Segments were replayed, and only seams launched by themselves.
    Replayed,
}

/// A part of a recorded step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Nodes that are one graph.
    Segment {
        /// Which graph.
        segment: usize,
        /// Which nodes.
        nodes: Range<usize>,
    },
    /// A node that runs eagerly.
    Seam {
        /// Which node.
        node: usize,
        /// Its kind, and why it is not recorded.
        reason: String,
    },
}

/// A step of one token, with its graphs and what they are good for.
///
/// The nodes and bindings are given anew for every step, because their owner changes them; they must be the same ones.
pub struct CapturedStep<R: Recorder> {
    lifecycle: Lifecycle<R>,
    phase: Phase,
    pieces: Vec<Piece>,
    fingerprint: Option<Fingerprint>,
    /// Kinds of operators that failed to be recorded, and how.
    quarantine: BTreeMap<String, String>,
}

type Nodes<'a, 'b, R> = &'a mut [Box<dyn Node<R> + 'b>];

impl<R: Recorder> CapturedStep<R> {
    /// One that has not run.
    pub const fn new(recorder: R) -> Self {
        Self {
            lifecycle: Lifecycle::new(recorder),
            phase: Phase::NeedsWarmup,
            pieces: Vec::new(),
            fingerprint: None,
            quarantine: BTreeMap::new(),
        }
    }

    /// What the next step will be.
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// What the recorded step consists of; nothing before it is recorded.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The stream.
    pub const fn recorder(&self) -> &R {
        self.lifecycle.recorder()
    }

    /// Runs the step in the way that is due.
    ///
    /// # Errors
    /// [`DeviceError::BindingsChanged`] if a recorded step is to be replayed with other memory; what a node returns.
    /// The graphs are dropped then, and the next step begins anew.
    pub fn run(&mut self, nodes: Nodes<'_, '_, R>, bindings: &[Binding]) -> Result<Ran, DeviceError> {
        match &self.phase {
            Phase::NeedsWarmup => {
                self.eagerly(nodes)?;
                self.phase = Phase::Armed;
                Ok(Ran::Eagerly)
            }
            Phase::Unsupported(_) => self.eagerly(nodes),
            Phase::Armed => self.recorded(nodes, bindings),
            Phase::Ready => self.replayed(nodes, bindings),
        }
    }

    /// Drops the graphs, so that the next step is eager again: for a new generation, a step of several tokens, or
    /// memory that had to grow. Says whether there were any.
    ///
    /// # Errors
    /// [`DeviceError::NotWhileCapturing`]
    pub fn reset(&mut self) -> Result<bool, DeviceError> {
        let had_any = self.lifecycle.reset()?;
        self.pieces.clear();
        self.fingerprint = None;
        self.phase = Phase::NeedsWarmup;
        Ok(had_any)
    }

    fn eagerly(&self, nodes: Nodes<'_, '_, R>) -> Result<Ran, DeviceError> {
        for node in nodes {
            node.run(self.lifecycle.recorder())?;
        }
        Ok(Ran::Eagerly)
    }

    fn recorded(&mut self, nodes: Nodes<'_, '_, R>, bindings: &[Binding]) -> Result<Ran, DeviceError> {
        let fingerprint = Fingerprint::of(bindings);
        if let Some(binding) = fingerprint.unfixed() {
            let reason = format!("{} has no fixed address", binding.name);
            self.decline(reason);
            return self.eagerly(nodes);
        }
        if let Err(error) = self.record(nodes) {
            return self.fail(error);
        }
        let segments = self.lifecycle.segments();
        if segments == 0 {
            // All nodes have run, as seams.
            self.decline(format!("nothing can be recorded: {}", self.reasons()));
            self.pieces.clear();
            return Ok(Ran::Eagerly);
        }
        let seams = self.pieces.len() - segments;
        self.lifecycle.recorder().count(|counters| {
            counters.captures += 1;
            counters.segments += segments as u64;
            counters.seams += seams as u64;
        });
        self.fingerprint = Some(fingerprint);
        self.phase = Phase::Ready;
        Ok(Ran::Recorded)
    }

    /// Runs the whole step, recording what can be: each segment is replayed as soon as it is recorded, so that the
    /// next seam reads what is really there. A kind of node that fails to be recorded is a seam from then on, which
    /// is why this ends: every failure leaves fewer kinds to record.
    fn record(&mut self, nodes: Nodes<'_, '_, R>) -> Result<(), DeviceError> {
        self.pieces.clear();
        let mut at = 0;
        while at < nodes.len() {
            if let Some(reason) = self.seam(&*nodes[at]) {
                nodes[at].run(self.lifecycle.recorder())?;
                self.pieces.push(Piece::Seam { node: at, reason });
                at += 1;
                continue;
            }
            let end = (at..nodes.len())
                .find(|node| self.seam(&*nodes[*node]).is_some())
                .unwrap_or(nodes.len());
            let mut reached = at;
            let outcome = self.lifecycle.record(|recorder| {
                for node in &mut nodes[at..end] {
                    node.run(recorder)?;
                    reached += 1;
                }
                Ok(())
            });
            match outcome {
                Ok(segment) => {
                    self.lifecycle.replay(segment)?;
                    self.pieces.push(Piece::Segment {
                        segment,
                        nodes: at..end,
                    });
                    at = end;
                }
                Err(error) => {
                    // Whoever failed; or any of them, if all went well until the end.
                    let suspects = if reached < end {
                        reached..reached + 1
                    } else {
                        at..end
                    };
                    for node in &nodes[suspects] {
                        self.quarantine.insert(node.op().to_owned(), error.to_string());
                    }
                }
            }
        }
        Ok(())
    }

    /// Why a node is not recorded; absent if it is.
    fn seam(&self, node: &(dyn Node<R> + '_)) -> Option<String> {
        let op = node.op();
        match (node.support(), self.quarantine.get(op)) {
            (Support::Unsupported(reason), _) => Some(format!("{op}: {reason}")),
            (Support::Supported, Some(error)) => Some(format!("{op}: recording it failed: {error}")),
            (Support::Supported, None) => None,
        }
    }

    fn replayed(&mut self, nodes: Nodes<'_, '_, R>, bindings: &[Binding]) -> Result<Ran, DeviceError> {
        if let Some(changed) = self.changed(nodes.len(), bindings) {
            return self.fail(DeviceError::BindingsChanged { changed });
        }
        for piece in &self.pieces {
            let outcome = match piece {
                Piece::Segment { segment, .. } => self.lifecycle.replay(*segment),
                Piece::Seam { node, .. } => nodes[*node].run(self.lifecycle.recorder()),
            };
            if let Err(error) = outcome {
                return self.fail(error);
            }
        }
        self.lifecycle.recorder().count(|counters| counters.replays += 1);
        Ok(Ran::Replayed)
    }

    /// What is not as it was when the step was recorded.
    fn changed(&self, nodes: usize, bindings: &[Binding]) -> Option<String> {
        let recorded: usize = self.pieces.iter().map(Piece::nodes).sum();
        if recorded != nodes {
            return Some(format!("the step had {recorded} nodes and has {nodes}"));
        }
        match &self.fingerprint {
            Some(fingerprint) if fingerprint.is(bindings) => None,
            Some(fingerprint) => fingerprint.changed(&Fingerprint::of(bindings)),
            None => Some("the recording is gone".to_owned()),
        }
    }

    /// Gives up recording until a reset.
    fn decline(&mut self, reason: String) {
        self.lifecycle
            .recorder()
            .count(|counters| counters.fallbacks += 1);
        self.phase = Phase::Unsupported(reason);
    }

    /// Begins anew after an error.
    fn fail(&mut self, error: DeviceError) -> Result<Ran, DeviceError> {
        self.reset()?;
        Err(error)
    }

    fn reasons(&self) -> String {
        let reasons = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Seam { reason, .. } => Some(reason.as_str()),
            Piece::Segment { .. } => None,
        });
        let reasons: Vec<_> = reasons.collect();
        if reasons.is_empty() {
            return "there are no nodes".to_owned();
        }
        reasons.join("; ")
    }
}

impl Piece {
    /// How many nodes it stands for.
    fn nodes(&self) -> usize {
        match self {
            Self::Segment { nodes, .. } => nodes.len(),
            Self::Seam { .. } => 1,
        }
    }
}

#[cfg(test)]
mod tests;
