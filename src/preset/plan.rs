//! From a preset to a plan: everything is checked, and all files are loaded, before training.

use super::method::MethodChoice;
use super::registry::{Source, SystemBuilder};
use super::{Preset, SystemChoice, tagger};
use crate::built_in::TEMPLATES;
use crate::classifier::{Learner, ScoreScale};
use crate::error::{Error, Result, choices};
use crate::feature::{Column, ColumnKind, Templates};
use crate::scorer::neural::{NetworkParams, NeuralParams};
use crate::symbols::Vocabulary;
use crate::transition::gold_tree::ROOT;
use crate::tree::Tree;
use crate::tree::binarize::{Binarization, Scheme};
use crate::tree::heads::{HeadRules, Uncovered};

/// A preset that has been checked.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The preset.
    pub preset: Preset,
    /// Its templates.
    pub templates: Templates,
    /// Its head rules, if the system has any.
    pub heads: Option<HeadRules>,
}

impl Plan {
    /// Checks a preset and loads the files it names.
    ///
    /// # Errors
    /// When a file cannot be read, or parts do not fit together; the message says how to fix it.
    pub fn new(preset: Preset) -> Result<Self> {
        let mut templates = load_templates(&preset.features.templates)?;
        if !preset.features.without.is_empty() {
            templates = templates.without(&preset.features.without)?;
        }
        let heads = match preset.system.heads() {
            "" => None,
            heads => Some(HeadRules::load(heads)?),
        };
        let plan = Self { preset, templates, heads };
        plan.check()?;
        Ok(plan)
    }

    /// The plan of a stored model, which contains its files.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn stored(preset: Preset, templates: &str, heads: &str) -> Result<Self> {
        let templates = Templates::parse(templates, "templates")?;
        let heads = if heads.is_empty() { None } else { Some(HeadRules::parse(heads, "heads")?) };
        let plan = Self { preset, templates, heads };
        plan.check()?;
        Ok(plan)
    }

    /// The text of its head rules; empty if it has none.
    pub fn heads_text(&self) -> &str {
        self.heads.as_ref().map_or("", |heads| heads.text())
    }

    /// The builder of its system.
    pub fn builder<'a>(
        &'a self,
        source: Source<'a>,
        vocabulary: &'a Vocabulary,
    ) -> SystemBuilder<'a> {
        SystemBuilder {
            choice: &self.preset.system,
            source,
            heads: self.heads.as_ref(),
            vocabulary,
        }
    }

    /// A tree as the parser sees it: cleaned and head-marked; also the labels without a head rule.
    pub(crate) fn cleaned(&self, tree: Tree) -> (Tree, Option<Uncovered>) {
        let mut tree = self.preset.clean.apply(tree);
        let uncovered = self.heads.as_ref().map(|heads| heads.apply(&mut tree));
        (tree, uncovered)
    }

    fn check(&self) -> Result<()> {
        self.preset.check()?;
        self.check_system()?;
        let label = &self.preset.search.failure_label;
        if label == ROOT || label.contains(['(', ')', ' ', '\t', '\n', '\r']) {
            let problem = format!(
                "`{label}` cannot be the label of a node below the root: give a label without brackets and spaces, \
                 other than {ROOT}, or nothing"
            );
            return Err(Error::config("search.failure_label", problem));
        }
        self.check_network()?;
        tagger::check(&self.preset)?;
        let columns = self.templates.columns();
        let set = columns.iter().find(|column| column.kind == ColumnKind::Set);
        if let (Some(Column { name, .. }), false) =
            (set, matches!(self.preset.learner, MethodChoice::Boosting(_)))
        {
            let problem = format!(
                "`{name}` is a set, which only boosted trees support: remove that template"
            );
            return Err(Error::config("features.templates", problem));
        }
        let learner = self.learner().map_err(|error| error.under("learner"))?;
        let takes_trees = learner.as_ref().is_some_and(|learner| learner.takes_trees());
        let tree = columns.iter().find(|column| column.kind == ColumnKind::Tree);
        if let Some(Column { name, .. }) = tree.filter(|_| !takes_trees) {
            let problem = format!(
                "`{name}` is a tree, which only subtree-boosting and tree-kernel support: remove that template"
            );
            return Err(Error::config("features.templates", problem));
        }
        if self.preset.search.compares_paths() && !self.can_compare_paths() {
            let problem = "the learner's scores can be compared only within one configuration, and this search \
                           compares paths: train a network, `structured-perceptron`, `maxent` or trees, or \
                           use `calibrate`";
            return Err(Error::config("search.method", problem));
        }
        Ok(())
    }

    /// The learner of instances, to be asked; `None` for other ways to train.
    fn learner(&self) -> Result<Option<Box<dyn Learner>>> {
        let MethodChoice::Batch(learner) = &self.preset.learner else { return Ok(None) };
        learner.asked(self.templates.columns()).map(Some)
    }

    /// Whether the learner's scores can be compared between paths, as a beam does.
    pub fn can_compare_paths(&self) -> bool {
        match self.learner() {
            Ok(Some(learner)) => learner.scale() != ScoreScale::Margin,
            Ok(None) => !matches!(self.preset.learner, MethodChoice::OnlinePerceptron(_)),
            Err(_) => false,
        }
    }

    /// Whether training stores checkpoints.
    pub fn has_checkpoints(&self) -> bool {
        match self.learner() {
            Ok(Some(learner)) => learner.has_parts(),
            _ => true,
        }
    }
}

impl Plan {
    fn check_network(&self) -> Result<()> {
        let MethodChoice::Neural(NeuralParams { network, .. }) = &self.preset.learner else {
            return Ok(());
        };
        if self.preset.search.illegal.ranks_all_actions() {
            let problem = "a network learns from legal actions only: set it to next-best";
            return Err(Error::config("search.illegal", problem));
        }
        let predicts = matches!(self.preset.system, SystemChoice::Predictive { .. });
        if predicts && matches!(network, NetworkParams::StackLstm(_)) {
            let problem =
                "the stack of the predictive system has no constituents to compose: use positions";
            return Err(Error::config("learner.network.kind", problem));
        }
        Ok(())
    }

    fn check_system(&self) -> Result<()> {
        let system = &self.preset.system;
        let fail = |key: &str, problem: &str| Err(Error::config(key, problem));
        let takes_candidates = matches!(self.preset.learner, MethodChoice::Boosting(_));
        let Binarization { scheme, markovization } = system.binarization();
        if markovization.horizontal > 0 && scheme == Scheme::None {
            return fail(
                "system.markovization.horizontal",
                "without a binarization there are no temporary nodes: set system.binarization",
            );
        }
        match (system, scheme) {
            (SystemChoice::Items { .. }, _) if !takes_candidates => fail(
                "learner.kind",
                "the item system has candidates and no list of actions: use boosting",
            ),
            (SystemChoice::Items { .. }, _) => Ok(()),
            _ if takes_candidates => {
                fail("learner.kind", "boosting learns from candidates: use system.kind = \"items\"")
            }
            (SystemChoice::Binary { heads }, _) if heads.is_empty() => {
                fail("system.heads", "the binary system needs head rules: give a name or a file")
            }
            (SystemChoice::Binary { .. }, _) | (_, Scheme::None) => Ok(()),
            (_, Scheme::HeadOutward) => fail(
                "system.binarization",
                "only the binary system works on head-outward trees: use none, l, r2 or r1",
            ),
            (SystemChoice::Predictive { .. }, Scheme::R0) => Ok(()),
            (_, Scheme::R0) => fail(
                "system.binarization",
                "r0 creates nodes without words, which this system cannot build: use none, l, r2 or r1",
            ),
            _ if !system.heads().is_empty() => fail(
                "system.heads",
                "head rules do not cover temporary nodes: omit the head rules or the binarization",
            ),
            _ => Ok(()),
        }
    }
}

fn load_templates(name: &str) -> Result<Templates> {
    let text = TEMPLATES.load(name)?.ok_or_else(|| {
        let choices = choices(name, "built in are", Templates::names());
        Error::config("features.templates", format!("no template file `{name}`: {choices}"))
    })?;
    Templates::parse(&text, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(settings: &[&str]) -> Result<Plan> {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        Plan::new(Preset::load("binary-dynamic", &settings)?)
    }

    #[test]
    fn a_failure_label_is_a_label_below_the_root() {
        assert_eq!(plan(&["failure_label=IP"]).unwrap().preset.search.failure_label, "IP");
        for wrong in ["failure_label=TOP", "failure_label=(IP", "failure_label=I P"] {
            let error = plan(&[wrong]).unwrap_err().to_string();
            assert!(error.contains("search.failure_label"), "{error}");
        }
    }

    #[test]
    fn siblings_are_remembered_by_temporary_nodes_only() {
        let of = |binarization: &str| {
            let kind = format!("kind = \"non-binary\", binarization = \"{binarization}\"");
            plan(&[&format!("system={{ {kind}, markovization = {{ horizontal = 1 }} }}")])
        };
        let error = of("none").unwrap_err().to_string();
        assert!(error.starts_with("system.markovization.horizontal: without"), "{error}");
        assert!(of("l").is_ok());
    }

    #[test]
    fn networks_are_refused_where_they_cannot_work() {
        let neural = "learner={ kind = \"neural\", network = { kind = \"stack-lstm\" } }";
        assert!(plan(&[neural]).is_ok());
        let error = plan(&[neural, "search.illegal=fail"]).unwrap_err().to_string();
        assert!(error.contains("search.illegal"), "{error}");
        let error = plan(&[neural, "system={ kind = \"predictive\" }"]).unwrap_err().to_string();
        assert!(error.contains("learner.network.kind"), "{error}");
    }

    #[test]
    fn features_can_be_left_out_and_the_model_stores_what_is_left() {
        let whole = plan(&["templates=wang-2006"]).unwrap();
        let without = "without=[\"open(punctuation)\", \"comma(s0,s1)\"]";
        let part = plan(&["templates=wang-2006", without]).unwrap();
        let names = |plan: &Plan| -> Vec<String> {
            plan.templates.columns().into_iter().map(|column| column.name).collect()
        };
        let mut left = names(&whole);
        left.retain(|name| name != "open(punctuation)" && name != "comma(s0,s1)");
        assert_eq!(names(&part), left);
        let stored = Plan::stored(part.preset.clone(), part.templates.text(), "").unwrap();
        assert_eq!(names(&stored), left);
        let error = plan(&["without=[\"s0.rhythm\"]"]).unwrap_err().to_string();
        assert!(error.contains("features.without") && error.contains("s0.rhythm"), "{error}");
    }
}
