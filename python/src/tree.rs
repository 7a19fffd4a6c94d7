//! Trees, and the nodes of trees.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyIterator, PyList, PyTuple, PyType};
use srparse::tree::dependencies::head_positions;
use srparse::tree::heads::HeadRules;
use srparse::tree::{Child, Node, NodeId, TreeBuilder, Visit, draw};
use srparse::{Parse, Token, Tree};

use crate::errors::exception;
use crate::find::{self, PyMatch};
use crate::sentence::Offsets;
use crate::work::work;

/// The data that the nodes of a tree share.
struct Shared {
    tree: Tree,
    score: Option<f64>,
    complete: Option<bool>,
    offsets: Option<Offsets>,
}

/// A constituency tree: the root, or a constituent in it.
///
/// `Tree("(TOP (NP (DT the) (NN dog)))")` reads one tree in Penn brackets; parsers return trees too. The children
/// of a constituent are trees and tokens, from left to right. Positions count the tokens of the sentence from 0.
///
/// Trees cannot be changed. They are equal if they have the same labels, words and tags in the same places.
#[pyclass(name = "Tree", module = "srparse", frozen, weakref)]
pub(crate) struct PyTree {
    shared: Arc<Shared>,
    node: NodeId,
}

impl PyTree {
    fn new(tree: Tree, score: Option<f64>, complete: Option<bool>) -> Self {
        // A tree of nothing has a root here.
        let tree = if tree.root().is_none() { TreeBuilder::new().finish() } else { tree };
        let node = tree.root().unwrap_or(NodeId(0));
        Self { shared: Arc::new(Shared { tree, score, complete, offsets: None }), node }
    }

    /// The tree of a parse, with the places of its words in a text.
    pub(crate) fn of_parse(parse: Parse, offsets: Option<Offsets>) -> Self {
        let Parse { tree, score, complete, .. } = parse;
        Self::new(tree, Some(score), Some(complete)).placed(offsets)
    }

    /// The same tree with the places of its words in a text.
    fn placed(mut self, offsets: Option<Offsets>) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.offsets = offsets.filter(|offsets| offsets.len() == shared.tree.tokens().len());
        }
        self
    }

    /// A node of the same tree.
    fn at(&self, node: NodeId) -> Self {
        Self { shared: Arc::clone(&self.shared), node }
    }

    fn inner(&self) -> &Node {
        self.tree().node(self.node)
    }

    fn tree(&self) -> &Tree {
        &self.shared.tree
    }

    /// The tree of this node alone.
    pub(crate) fn own(&self) -> Cow<'_, Tree> {
        if self.tree().root() == Some(self.node) {
            return Cow::Borrowed(self.tree());
        }
        let mut builder = TreeBuilder::new();
        for step in self.steps() {
            match step {
                Visit::Open(id) => builder.open(self.tree().node(id).label.clone()),
                Visit::Token(position) => {
                    let Token { word, tag } = self.tree().tokens()[position as usize].clone();
                    builder.token(word, tag);
                }
                Visit::Close(id) => builder.close_with_head(self.tree().node(id).head),
            }
        }
        Cow::Owned(builder.finish())
    }

    /// The part of the walk that opens and closes this node.
    fn steps(&self) -> impl Iterator<Item = Visit> {
        let (first, last) = (Visit::Open(self.node), Visit::Close(self.node));
        let mut is_over = false;
        let walk = self.tree().traverse().skip_while(move |&step| step != first);
        walk.take_while(move |&step| !std::mem::replace(&mut is_over, step == last))
    }

    /// The ids of the nodes below this one and its own, which is the last.
    fn ids(&self) -> impl Iterator<Item = NodeId> {
        let mut n_nodes = 0u32;
        for step in self.steps() {
            n_nodes += u32::from(matches!(step, Visit::Open(_)));
        }
        (self.node.0 + 1 - n_nodes..=self.node.0).map(NodeId)
    }

    /// The node that has this id in [`PyTree::own`].
    pub(crate) fn below(&self, id: NodeId) -> Self {
        let first = self.ids().next().map_or(0, |first| first.0);
        self.at(NodeId(first + id.0))
    }

    fn own_tokens(&self) -> &[Token] {
        let Node { start, end, .. } = *self.inner();
        &self.tree().tokens()[start as usize..end as usize]
    }

    fn child<'py>(&self, py: Python<'py>, child: Child) -> PyResult<Bound<'py, PyAny>> {
        match child {
            Child::Node(node) => Ok(Bound::new(py, self.at(node))?.into_any()),
            Child::Token(position) => token(py, &self.tree().tokens()[position as usize]),
        }
    }
}

impl From<Tree> for PyTree {
    fn from(tree: Tree) -> Self {
        Self::new(tree, None, None)
    }
}

/// A token as `srparse.Token`.
pub(crate) fn token<'py>(py: Python<'py>, token: &Token) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "srparse._token", "Token")?;
    class.call1((token.word.as_str(), token.tag.as_str()))
}

#[pymethods]
impl PyTree {
    #[new]
    fn read(py: Python<'_>, brackets: String) -> PyResult<Self> {
        let tree = work(py, brackets.len(), move || brackets.parse::<Tree>())?;
        tree.map(Self::from).map_err(exception)
    }

    /// The label, empty for an unlabelled root.
    #[getter]
    fn label(&self) -> &str {
        &self.inner().label
    }

    /// The first token of the span.
    #[getter]
    pub(crate) fn start(&self) -> u32 {
        self.inner().start
    }

    /// One past the last token of the span.
    #[getter]
    fn end(&self) -> u32 {
        self.inner().end
    }

    /// Which child is the head, from 0; None where no head is marked.
    #[getter]
    fn head(&self) -> Option<u32> {
        self.inner().head
    }

    /// The children from left to right: trees and tokens.
    #[getter]
    fn children<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.tree().children(self.node).iter().map(|&child| self.child(py, child)).collect()
    }

    /// The tokens of the span: pairs of a word and a tag.
    #[getter]
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.own_tokens().iter().map(|own| token(py, own)).collect()
    }

    /// The words of the span.
    #[getter]
    fn words(&self) -> Vec<&str> {
        self.own_tokens().iter().map(|token| token.word.as_str()).collect()
    }

    /// The places of the words in the text that was parsed: the characters where each starts and ends. None if the
    /// sentence was given as words.
    #[getter]
    fn offsets(&self) -> Option<Offsets> {
        let Node { start, end, .. } = *self.inner();
        Some(self.shared.offsets.as_ref()?[start as usize..end as usize].to_vec())
    }

    /// The words, as NLTK names them.
    fn leaves(&self) -> Vec<&str> {
        self.words()
    }

    /// The tokens, as NLTK names them.
    fn pos<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.tokens(py)
    }

    /// The height, as NLTK counts it: 2 for a token, 1 more for a node than for the highest of its children.
    fn height(&self) -> u32 {
        let higher = |open: &mut Vec<u32>, height: u32| {
            if let Some(own) = open.last_mut() {
                *own = height.max(*own);
            }
        };
        let (mut open, mut height) = (Vec::new(), 1);
        for step in self.steps() {
            match step {
                Visit::Open(_) => open.push(1),
                Visit::Token(_) => {
                    higher(&mut open, 3);
                }
                Visit::Close(_) => {
                    height = open.pop().unwrap_or(1);
                    higher(&mut open, height + 1);
                }
            }
        }
        height
    }

    /// This constituent and those in it, parents first; with a label, only those that have it.
    #[pyo3(signature = (label=None))]
    fn subtrees(&self, label: Option<&str>) -> Vec<Self> {
        let opened = self.steps().filter_map(|step| match step {
            Visit::Open(id) => Some(id),
            Visit::Token(_) | Visit::Close(_) => None,
        });
        let is_meant = |id: &NodeId| label.is_none_or(|label| self.tree().node(*id).label == label);
        opened.filter(is_meant).map(|id| self.at(id)).collect()
    }

    /// The number of children.
    fn __len__(&self) -> usize {
        self.tree().children(self.node).len()
    }

    /// A tree is true, even without children.
    fn __bool__(&self) -> bool {
        true
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.children(py)?)?.try_iter()
    }

    /// A child, several of them, or a child of a child of … by a tuple of positions, as in NLTK.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        position: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(path) = position.cast::<PyTuple>() else {
            return PyList::new(py, self.children(py)?)?.as_any().get_item(position);
        };
        let mut at = Bound::new(py, self.at(self.node))?.into_any();
        for position in path {
            at = at.get_item(position)?;
        }
        Ok(at)
    }

    /// The score that the parser gave to the tree of the sentence, on the scale of its model; None for a tree that
    /// was read.
    #[getter]
    fn score(&self) -> Option<f64> {
        self.shared.score
    }

    /// Whether the parser found a complete parse; None for a tree that was read.
    #[getter]
    fn complete(&self) -> Option<bool> {
        self.shared.complete
    }

    /// The constituents as (label, start, end), children before their parent: this node is the last.
    fn spans(&self) -> Vec<(&str, u32, u32)> {
        let nodes = self.ids().map(|id| self.tree().node(id));
        nodes.map(|node| (node.label.as_str(), node.start, node.end)).collect()
    }

    /// The matches of a pattern in Tregex's language, such as "NP < NN=noun", in the order of their nodes; `once` finds
    /// each node in the first of its ways only. `heads` are the head rules of `<#` and the like, as in `heads()`.
    ///
    /// Raises ValueError, with the column, when the pattern is malformed.
    #[pyo3(signature = (pattern, *, once=false, heads=None))]
    fn find(
        &self,
        py: Python<'_>,
        pattern: &str,
        once: bool,
        heads: Option<&str>,
    ) -> PyResult<Vec<PyMatch>> {
        find::find(py, self, pattern, once, heads)
    }

    /// The head of each token, counted from 1 within the span, and 0 for the root.
    ///
    /// `rules` is a built-in table, such as "collins", or a file; without it, the head children that the parser has
    /// marked count, or else the last child.
    #[pyo3(signature = (rules=None))]
    fn heads(&self, rules: Option<&str>) -> PyResult<Vec<u32>> {
        let mut tree = self.own();
        if let Some(rules) = rules {
            HeadRules::load(rules).map_err(exception)?.apply(tree.to_mut());
        }
        Ok(head_positions(&tree))
    }

    /// The tree with other tags, one for each token.
    ///
    /// Raises ValueError when there are not as many.
    fn with_tags(&self, tags: &Bound<'_, PyAny>) -> PyResult<Self> {
        // A list would reserve what a length promises.
        let tags = tags.try_iter()?.map(|tag| tag?.extract::<String>());
        let tags = tags.collect::<PyResult<Vec<String>>>()?;
        let mut tree = self.own().into_owned();
        let tokens = tree.tokens_mut();
        if tags.len() != tokens.len() {
            let problem = format!("{} tags for {} tokens", tags.len(), tokens.len());
            return Err(PyValueError::new_err(problem));
        }
        for (token, tag) in tokens.iter_mut().zip(tags) {
            token.tag = tag.into();
        }
        Ok(Self::new(tree, self.score(), self.complete()).placed(self.offsets()))
    }

    /// The tree in indented brackets, as in the Penn Treebank.
    fn pretty(&self) -> String {
        format!("{:#}", self.own())
    }

    /// The tree drawn with lines, one node or token per line.
    fn draw(&self) -> String {
        drawn(|out| draw::text(&self.own(), out))
    }

    /// The tree drawn as SVG.
    fn svg(&self) -> String {
        drawn(|out| draw::svg(&self.own(), out))
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    /// The tree as an `nltk.Tree`, whose preterminals are trees too. Needs NLTK.
    fn to_nltk<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("srparse.nltk")?.call_method1("to_nltk", (slf,))
    }

    /// The tree of an `nltk.Tree`. Needs NLTK.
    #[staticmethod]
    fn from_nltk<'py>(tree: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        tree.py().import("srparse.nltk")?.call_method1("from_nltk", (tree,))
    }

    /// The walk of the tree: ("open", label, head), ("token", word, tag) and ("close", "", None).
    fn _steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let steps = PyList::empty(py);
        for step in self.steps() {
            steps.append(match step {
                Visit::Open(id) => {
                    let node = self.tree().node(id);
                    ("open", node.label.as_str(), node.head).into_pyobject(py)?
                }
                Visit::Token(position) => {
                    let token = &self.tree().tokens()[position as usize];
                    ("token", token.word.as_str(), token.tag.as_str()).into_pyobject(py)?
                }
                Visit::Close(_) => ("close", "", py.None()).into_pyobject(py)?,
            })?;
        }
        Ok(steps)
    }

    /// The tree of a walk.
    #[staticmethod]
    #[pyo3(signature = (steps, score=None, complete=None, offsets=None))]
    fn _of_steps(
        steps: &Bound<'_, PyList>,
        score: Option<f64>,
        complete: Option<bool>,
        offsets: Option<Offsets>,
    ) -> PyResult<Self> {
        let mut builder = TreeBuilder::new();
        let mut heads = Vec::new();
        for step in steps {
            let (kind, text, more): (String, String, Bound<'_, PyAny>) = step.extract()?;
            match kind.as_str() {
                "open" => {
                    builder.open(text);
                    heads.push(more.extract()?);
                }
                "token" => builder.token(text, more.extract::<String>()?),
                _ => builder.close_with_head(heads.pop().ok_or_else(unbalanced)?),
            }
        }
        if !heads.is_empty() {
            return Err(unbalanced());
        }
        Ok(Self::new(builder.finish(), score, complete).placed(offsets))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let own = slf.get();
        let restore = slf.get_type().getattr("_of_steps")?;
        (restore, (own._steps(py)?, own.score(), own.complete(), own.offsets())).into_pyobject(py)
    }

    fn __str__(&self) -> String {
        self.own().to_string()
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<String> {
        let shown = self.__str__().into_pyobject(py)?.repr()?;
        Ok(format!("Tree({shown})"))
    }

    fn __eq__(&self, other: &Self) -> bool {
        let (a, b) = (self.own(), other.own());
        a.tokens() == b.tokens()
            && a.ids().map(|id| shape(&a, id)).eq(b.ids().map(|id| shape(&b, id)))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.__str__().hash(&mut hasher);
        hasher.finish()
    }
}

/// The parts that make a node equal to another.
fn shape(tree: &Tree, id: NodeId) -> (&str, u32, u32, usize) {
    let Node { label, start, end, .. } = tree.node(id);
    (label, *start, *end, tree.children(id).len())
}

fn unbalanced() -> PyErr {
    PyValueError::new_err("the walk of the tree closes other nodes than it opens")
}

/// The output of a function.
fn drawn(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}
