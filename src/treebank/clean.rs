//! stub
use crate::tree::*;
use serde::*;
#[derive(Debug, Clone, Serialize, Deserialize, Default)]
/// stub
pub struct Cleaning {}
/// stub
pub struct Cleaned { pub tree: Tree }
/// stub
pub struct Kept { pub tokens: Option<Vec<Token>>, pub positions: Vec<u32> }
impl Cleaning {
    /// stub
    pub fn apply_tokens(&self, _t: &[Token]) -> Kept { Kept { tokens: None, positions: vec![] } }
    /// stub
    pub fn apply(&self, t: &Tree) -> Cleaned {
        // drop traces
        let mut b = TreeBuilder::new();
        // compute nonempty count
        let mut cnt = vec![0u32; t.nodes().len()];
        for id in t.ids() { let mut c=0; for &ch in t.children(id) { c += match ch { Child::Token(p) => u32::from(t.tokens()[p as usize].tag != "-NONE-"), Child::Node(n)=>cnt[n.index()] }; } cnt[id.index()]=c; }
        let strip = |l: &str| -> String { if l.starts_with('-') { return l.to_string(); } let e = l.find(['-','=']).unwrap_or(l.len()); if e==0 {l.to_string()} else {l[..e].to_string()} };
        let keep = |id: NodeId, t: &Tree| cnt[id.index()]>0 || Some(id)==t.root();
        let collapse = std::env::var("NOCOLLAPSE").is_err();
        let mut skipped = vec![false; t.nodes().len()];
        // same label unary: skip child if its only kept child of parent & same label
        for id in t.ids() {
            let kids: Vec<Child> = t.children(id).iter().copied().filter(|&c| match c { Child::Token(p)=> t.tokens()[p as usize].tag != "-NONE-", Child::Node(n)=>cnt[n.index()]>0}).collect();
            if collapse { if let [Child::Node(c)] = kids[..] { if strip(&t.node(c).label)==strip(&t.node(id).label) { skipped[c.index()]=true; } } }
        }
        for s in t.walk() { match s {
            Step::Open(id) => if keep(id,t) && !skipped[id.index()] { let l = strip(&t.node(id).label); let l = if Some(id)==t.root() { "TOP".to_string() } else { l }; b.open(l); },
            Step::Token(p) => { let k=&t.tokens()[p as usize]; if k.tag != "-NONE-" { b.token(k.word.clone(), k.tag.clone()); } },
            Step::Close(id) => if keep(id,t) && !skipped[id.index()] { b.close(); },
        }}
        Cleaned { tree: b.finish() }
    }
}
/// stub
pub fn reattach(t: Tree, _k: &[u32], _t: &[Token]) -> Tree { t }
