//! Statistics on slices of numbers. This room imports nothing from the crate and touches no world: every function
//! would make sense without benchmarks.
//!
//! | file | what |
//! |---|---|
//! | [`quantile`] | median and quantiles (Hyndman & Fan type 7) |
//! | [`trimmed`] | 20 % trimmed mean, winsorised variance, standard error, degrees of freedom |
//! | [`student`] | quantiles of Student's t, accurate far into the tail |
//! | [`proportion`] | bounds of a probability (Clopper & Pearson) |
//! | [`interval`] | an estimate with its standard error; intervals for one stratum and for the mean of two |
//! | [`levels`] | levels of which only differences were measured: generalised least squares |
//! | [`segments`] | where a series jumps: an exact penalised search |
//! | [`jump`] | how clear a jump or a drift is, and how likely by chance: permutation of residuals |
//! | [`holm`] | many probabilities that share one level (Holm 1979) |
//!
//! Notation: `n` values, `g` trimmed from each end, `h = n - 2g` left. A two-sided interval "at level alpha" covers
//! with probability `1 - alpha`. Functions return `None` for too few or non-finite values; they never panic, never
//! return NaN, and leave the order of their input alone.
//!
//! Sources: Tukey & McLaughlin 1963 (trimmed t); Yuen 1974 (two trimmed samples of unequal variance); Welch 1947 and
//! Satterthwaite 1946 (degrees of freedom); Hill 1970 (t quantile); Hyndman & Fan 1996 (quantile definitions). Those of
//! the search for jumps stand in its files.

pub mod holm;
pub mod interval;
pub mod jump;
pub mod levels;
pub mod proportion;
pub mod quantile;
pub mod segments;
pub mod student;
pub mod trimmed;
