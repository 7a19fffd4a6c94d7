//! Lowest common ancestors.

use super::ROOT;

/// Finds the lowest node above two nodes in logarithmic time, by jumps over many ancestors (Myers 1983).
pub(super) struct Ancestors {
    parent: Vec<u32>,
    depth: Vec<u32>,
    jump: Vec<u32>,
}

impl Ancestors {
    /// Of the nodes with these parents; `order` has parents before children.
    pub(super) fn new(parent: Vec<u32>, order: &[u32]) -> Self {
        let (mut depth, mut jump) = (vec![0; parent.len()], vec![ROOT; parent.len()]);
        for &node in &order[1..] {
            let above = parent[node as usize];
            let far = jump[above as usize];
            let further = jump[far as usize];
            let lengths = [(above, far), (far, further)]
                .map(|(low, high): (u32, u32)| depth[low as usize] - depth[high as usize]);
            jump[node as usize] = if lengths[0] == lengths[1] { further } else { above };
            depth[node as usize] = depth[above as usize] + 1;
        }
        Self { parent, depth, jump }
    }

    /// The lowest node that is above both, or one of them.
    pub(super) fn common(&self, a: u32, b: u32) -> u32 {
        let depth = |node: u32| self.depth[node as usize];
        let (mut low, mut other) = if depth(a) >= depth(b) { (a, b) } else { (b, a) };
        while depth(low) > depth(other) {
            let jump = self.jump[low as usize];
            low = if depth(jump) >= depth(other) { jump } else { self.parent[low as usize] };
        }
        while low != other {
            let jumps = [low, other].map(|node| self.jump[node as usize]);
            [low, other] = if jumps[0] == jumps[1] {
                [low, other].map(|node| self.parent[node as usize])
            } else {
                jumps
            };
        }
        low
    }
}
