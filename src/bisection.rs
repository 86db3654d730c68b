//! Which commit of a line made a scenario slower or faster: halving, with a judge that may not be able to tell.
//!
//! Every commit asked is measured beside the good end, in the same way as any comparison. It belongs to the bad side if its
//! interval lies beyond half of what separates the ends, to the good side if it lies below, and otherwise, or if it does
//! not build, it says nothing and its neighbour is asked. So the answer is a commit, or the smallest range that could be
//! proved.

/// What a commit turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// As the good end.
    Good,
    /// As the bad end.
    Bad,
    /// It does not build, cannot be measured, or lies between the ends.
    Unknown,
}

impl Answer {
    /// From the interval of a commit's change against the good end, `low..high`, and the change that separates the ends,
    /// all fractions. `None`: there is no interval.
    #[must_use]
    pub fn of(interval: Option<(f64, f64)>, ends: f64) -> Self {
        let Some((low, high)) = interval else {
            return Self::Unknown;
        };
        // The middle on the scale on which a change and its undoing are of equal size.
        let middle = (ends.ln_1p() / 2.0).exp_m1();
        let (near, far) = if ends > 0.0 { (low, high) } else { (-high, -low) };
        match middle.abs() {
            middle if near > middle => Self::Bad,
            middle if far < middle => Self::Good,
            _ => Self::Unknown,
        }
    }
}

/// The search. Commits are numbered from the good end, which is 0; the bad end is the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bisection {
    answers: Vec<Option<Answer>>,
}

/// What is proved so far: the change came after commit `after`, and at commit `by` it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Last commit known to be good.
    pub after: usize,
    /// First commit after it that is known to be bad.
    pub by: usize,
}

impl Range {
    /// Whether one commit is left.
    #[must_use]
    pub fn is_one_commit(self) -> bool {
        self.by == self.after + 1
    }
}

impl Bisection {
    /// A search among so many commits, both ends included; at least two.
    #[must_use]
    pub fn new(commits: usize) -> Self {
        let mut answers = vec![None; commits.max(2)];
        answers[0] = Some(Answer::Good);
        if let Some(last) = answers.last_mut() {
            *last = Some(Answer::Bad);
        }
        Self { answers }
    }

    /// What is proved. The bad commit is the first one; of good ones in front of it the last, so an answer that
    /// contradicts another does not widen the range.
    #[must_use]
    pub fn range(&self) -> Range {
        let is = |at: &usize, answer| self.answers[*at] == Some(answer);
        let by = (0..self.answers.len())
            .find(|at| is(at, Answer::Bad))
            .unwrap_or(self.answers.len() - 1);
        let after = (0..by).rev().find(|at| is(at, Answer::Good)).unwrap_or(0);
        Range { after, by }
    }

    /// The commit to ask next: the one nearest to the middle of the range that was not asked; `None` if there is none.
    #[must_use]
    pub fn next(&self) -> Option<usize> {
        let Range { after, by } = self.range();
        let middle = usize::midpoint(after, by);
        let open = (after + 1..by).filter(|at| self.answers[*at].is_none());
        open.min_by_key(|at| at.abs_diff(middle))
    }

    /// Takes up what a commit turned out to be. Commits that do not exist are ignored.
    pub fn tell(&mut self, at: usize, answer: Answer) {
        if let Some(own) = self.answers.get_mut(at) {
            *own = Some(answer);
        }
    }

    /// Commits inside the proved range that could not be told.
    #[must_use]
    pub fn unknown(&self) -> Vec<usize> {
        let Range { after, by } = self.range();
        (after + 1..by)
            .filter(|at| self.answers[*at] == Some(Answer::Unknown))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches among commits that answer like this; how many were asked.
    fn search(commits: usize, answer: impl Fn(usize) -> Answer) -> (Bisection, usize) {
        let mut bisection = Bisection::new(commits);
        let mut asked = 0;
        while let Some(at) = bisection.next() {
            bisection.tell(at, answer(at));
            asked += 1;
            assert!(asked <= commits, "asks for ever");
        }
        (bisection, asked)
    }

    #[test]
    fn the_first_bad_commit_is_found_with_few_questions() {
        for culprit in 1..100 {
            let (found, asked) = search(100, |at| if at < culprit { Answer::Good } else { Answer::Bad });
            assert_eq!(
                found.range(),
                Range {
                    after: culprit - 1,
                    by: culprit
                }
            );
            assert!(found.range().is_one_commit() && asked <= 7, "{asked}");
        }
    }

    #[test]
    fn commits_that_do_not_build_are_stepped_around_and_a_range_is_left_where_they_hide_the_culprit() {
        let broken = |at: usize| (40..60).contains(&at);
        for culprit in [10, 39, 60, 61, 90] {
            let answer = |at: usize| match () {
                () if broken(at) => Answer::Unknown,
                () if at < culprit => Answer::Good,
                () => Answer::Bad,
            };
            let (found, _) = search(100, answer);
            let hidden = culprit == 60;
            assert_eq!(found.range().is_one_commit(), !hidden, "{culprit}: {found:?}");
            if hidden {
                assert_eq!(found.range(), Range { after: 39, by: 60 });
                assert_eq!(found.unknown().len(), 20);
            }
        }
    }

    #[test]
    fn neighbours_need_no_question_and_nothing_is_asked_twice() {
        assert_eq!(Bisection::new(2).next(), None);
        assert_eq!(Bisection::new(0).range(), Range { after: 0, by: 1 });
        let (found, asked) = search(5, |_| Answer::Unknown);
        assert_eq!((found.range(), asked), (Range { after: 0, by: 4 }, 3));
    }

    #[test]
    fn an_interval_must_lie_on_one_side_of_the_middle() {
        let of = |low, high, ends| Answer::of(Some((low, high)), ends);
        assert_eq!(of(0.06, 0.12, 0.1), Answer::Bad);
        assert_eq!(of(-0.01, 0.02, 0.1), Answer::Good);
        assert_eq!(of(0.02, 0.08, 0.1), Answer::Unknown);
        assert_eq!(of(-0.12, -0.06, -0.1), Answer::Bad);
        assert_eq!(of(-0.02, 0.01, -0.1), Answer::Good);
        assert_eq!(of(f64::NAN, f64::NAN, 0.1), Answer::Unknown);
        assert_eq!(Answer::of(None, 0.1), Answer::Unknown);
    }
}
