//! The relations between nodes, and how they are written.

use super::labels::TestId;

/// A relation from the node on its left to the node on its right. `A` and `B` are these nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// `A == B`: both are the same node.
    Equals,
    /// `A : B`: none at all.
    Segment,
    /// `A << B`: B is below A.
    Dominates,
    /// `A >> B`: A is below B.
    DominatedBy,
    /// `A < B`: B is a child of A.
    Parent,
    /// `A > B`: A is a child of B.
    Child,
    /// `A <= B`: B is A or a child of A.
    ParentOrEqual,
    /// `A <3 B`, `A <, B`: B is this child of A, from 0.
    HasChild(u32),
    /// `A <-3 B`, `A <- B`: the same from the last.
    HasChildFromLast(u32),
    /// `A >3 B`, `A >, B`: A is this child of B, from 0.
    IsChild(u32),
    /// `A >-3 B`, `A >- B`: the same from the last.
    IsChildFromLast(u32),
    /// `A <: B`: B is the only child of A.
    HasOnlyChild,
    /// `A >: B`: A is the only child of B.
    IsOnlyChild,
    /// `A <<: B`: B is below A, and A and all between them have one child.
    UnaryDominates,
    /// `A >>: B`: the same with A below B.
    UnaryDominatedBy,
    /// `A <<, B`: B is the first child of A, or of its first child, and so on.
    HasLeftmost,
    /// `A <<- B`: the same with the last children.
    HasRightmost,
    /// `A >>, B`: A is the first child of B, or of its first child, and so on.
    IsLeftmost,
    /// `A >>- B`: the same with the last children.
    IsRightmost,
    /// `A <# B`: B is the head child of A.
    HasHead,
    /// `A ># B`: A is the head child of B.
    IsHead,
    /// `A <<# B`: B is the head child of A, or its head child, and so on.
    HeadedBy,
    /// `A >># B`: the same with A below B.
    Heads,
    /// `A .. B`: A ends before B begins.
    Precedes,
    /// `A ,, B`: B ends before A begins.
    Follows,
    /// `A . B`: B begins where A ends.
    ImmediatelyPrecedes,
    /// `A , B`: A begins where B ends.
    ImmediatelyFollows,
    /// `A $ B`: both have the same parent, and are two nodes.
    Sister,
    /// `A $++ B`, `A $.. B`: A is a sister of B on its left.
    LeftSister,
    /// `A $-- B`, `A $,, B`: A is a sister of B on its right.
    RightSister,
    /// `A $+ B`, `A $. B`: B is the next sister of A.
    NextSister,
    /// `A $- B`, `A $, B`: B is the sister before A.
    PreviousSister,
    /// `A <+(C) B`: B is below A, and all between them pass the test.
    DominatesBy(TestId),
    /// `A >+(C) B`: the same with A below B.
    DominatedThrough(TestId),
    /// `A .+(C) B`: A precedes B, with a chain of adjacent nodes between them that pass the test.
    PrecedesBy(TestId),
    /// `A ,+(C) B`: the same with B before A.
    FollowsBy(TestId),
}

/// A relation as it is written, before a number or a chain is known.
#[derive(Debug, Clone, Copy)]
pub(super) enum Symbol {
    /// A whole relation.
    Whole(Relation),
    /// `<` or `>`, which a number may follow; the relation without one.
    Counted(Relation),
    /// `<-` or `>-`, the same.
    CountedFromLast(Relation),
    /// `<+`, `>+`, `.+` or `,+`, which a description in brackets follows.
    Chain(fn(TestId) -> Relation),
    /// `<...`, which a list of children follows.
    Children,
}

/// The symbols of relations, longer ones before those that they begin with.
pub(super) const SYMBOLS: [(&str, Symbol); 42] = [
    ("<...", Symbol::Children),
    ("<<,", Symbol::Whole(Relation::HasLeftmost)),
    ("<<-", Symbol::Whole(Relation::HasRightmost)),
    ("<<#", Symbol::Whole(Relation::HeadedBy)),
    ("<<:", Symbol::Whole(Relation::UnaryDominates)),
    ("<<", Symbol::Whole(Relation::Dominates)),
    ("<,", Symbol::Whole(Relation::HasChild(0))),
    ("<-", Symbol::CountedFromLast(Relation::HasChildFromLast(0))),
    ("<`", Symbol::Whole(Relation::HasChildFromLast(0))),
    ("<+", Symbol::Chain(Relation::DominatesBy)),
    ("<:", Symbol::Whole(Relation::HasOnlyChild)),
    ("<#", Symbol::Whole(Relation::HasHead)),
    ("<=", Symbol::Whole(Relation::ParentOrEqual)),
    ("<", Symbol::Counted(Relation::Parent)),
    (">>,", Symbol::Whole(Relation::IsLeftmost)),
    (">>-", Symbol::Whole(Relation::IsRightmost)),
    (">>#", Symbol::Whole(Relation::Heads)),
    (">>:", Symbol::Whole(Relation::UnaryDominatedBy)),
    (">>", Symbol::Whole(Relation::DominatedBy)),
    (">,", Symbol::Whole(Relation::IsChild(0))),
    (">-", Symbol::CountedFromLast(Relation::IsChildFromLast(0))),
    (">`", Symbol::Whole(Relation::IsChildFromLast(0))),
    (">+", Symbol::Chain(Relation::DominatedThrough)),
    (">:", Symbol::Whole(Relation::IsOnlyChild)),
    (">#", Symbol::Whole(Relation::IsHead)),
    (">", Symbol::Counted(Relation::Child)),
    ("$++", Symbol::Whole(Relation::LeftSister)),
    ("$--", Symbol::Whole(Relation::RightSister)),
    ("$..", Symbol::Whole(Relation::LeftSister)),
    ("$,,", Symbol::Whole(Relation::RightSister)),
    ("$+", Symbol::Whole(Relation::NextSister)),
    ("$-", Symbol::Whole(Relation::PreviousSister)),
    ("$.", Symbol::Whole(Relation::NextSister)),
    ("$,", Symbol::Whole(Relation::PreviousSister)),
    ("$", Symbol::Whole(Relation::Sister)),
    ("..", Symbol::Whole(Relation::Precedes)),
    (".+", Symbol::Chain(Relation::PrecedesBy)),
    (".", Symbol::Whole(Relation::ImmediatelyPrecedes)),
    (",,", Symbol::Whole(Relation::Follows)),
    (",+", Symbol::Chain(Relation::FollowsBy)),
    (",", Symbol::Whole(Relation::ImmediatelyFollows)),
    ("==", Symbol::Whole(Relation::Equals)),
];

impl Relation {
    /// Whether head rules decide it.
    pub(super) fn needs_heads(self) -> bool {
        matches!(self, Self::HasHead | Self::IsHead | Self::HeadedBy | Self::Heads)
    }
}
