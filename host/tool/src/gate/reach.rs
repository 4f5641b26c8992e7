//! How far the programs of an allowed call reach.
//!
//! Every program is behind walls, in every mode; what was decided about its call says what the walls enclose. What runs
//! without a question only because it reads, reads the workspace and changes nothing: whatever its text hid from those
//! who read it, there is nothing that it could do. Everything else that was allowed may change the workspace. Nothing
//! but the user's own word takes the walls away: an answer about one call, or the mode that asks nothing.
//!
//! Deliberately not here: the walls themselves (`host-process`), and where the workspace is (`host-plugin`).

use host_plugin::{ProgramReach, ProgramWalls};

use super::Considered;
use crate::{ApprovalMode, Because, Decision, Verdict};

impl Considered {
    /// Returns how far the programs of the call reach if nobody is asked about it.
    pub(super) fn reach(&self, mode: ApprovalMode) -> ProgramReach {
        match self.verdict.decision {
            Decision::Allow => of_allowed(&self.verdict, self.access.programs.walls, mode),
            // A hook allowed it.
            Decision::Ask | Decision::Deny => ProgramReach::Workspace,
        }
    }
}

fn of_allowed(verdict: &Verdict, walls: ProgramWalls, mode: ApprovalMode) -> ProgramReach {
    if mode == ApprovalMode::Yolo && !walls.is_chosen {
        return ProgramReach::Everything;
    }
    if verdict.leaves_walls && walls.can_be_left() {
        return ProgramReach::Everything;
    }
    let only_reads = |because: &Because| matches!(because, Because::Reads | Because::Harmless);
    match verdict.reasons.iter().all(|reason| only_reads(&reason.because)) {
        true => ProgramReach::Reading,
        false => ProgramReach::Workspace,
    }
}

#[cfg(test)]
mod tests {
    use host_plugin::ConfineMode;

    use super::*;
    use crate::Reason;

    // promise confine.reading: What runs without a question only because it reads, changes nothing.
    #[test]
    fn reach_of_a_call_is_reading_unless_something_else_allowed_it() {
        let reason = |because: Because| Reason { part: None, decision: Decision::Allow, because };
        let verdict = |because: &[Because], leaves_walls: bool| Verdict {
            decision: Decision::Allow,
            message: None,
            leaves_walls,
            reasons: because.iter().cloned().map(reason).collect(),
        };
        let walls = |mode, is_chosen| ProgramWalls { mode, is_chosen };
        let (auto, chosen) = (walls(ConfineMode::Auto, false), walls(ConfineMode::Auto, true));
        let require = walls(ConfineMode::Require, true);
        let reads = [Because::Reads, Because::Harmless];
        for (because, leaves, walls, mode, expected) in [
            (&reads[..], false, auto, ApprovalMode::Default, ProgramReach::Reading),
            (&reads[..1], false, auto, ApprovalMode::AutoEdit, ProgramReach::Reading),
            (&[Because::Reads, Because::Granted][..], false, auto, ApprovalMode::Default, ProgramReach::Workspace),
            (&[Because::Granted][..], false, auto, ApprovalMode::Auto, ProgramReach::Workspace),
            (&[Because::Granted][..], false, auto, ApprovalMode::Yolo, ProgramReach::Everything),
            (&[Because::Granted][..], false, chosen, ApprovalMode::Yolo, ProgramReach::Workspace),
            (&[Because::Granted][..], true, auto, ApprovalMode::Default, ProgramReach::Everything),
            (&[Because::Granted][..], true, require, ApprovalMode::Default, ProgramReach::Workspace),
        ] {
            assert_eq!(of_allowed(&verdict(because, leaves), walls, mode), expected, "{because:?} {walls:?} {mode}");
        }
    }
}
