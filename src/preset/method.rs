//! The training methods, as the table `[learner]` of presets names them.

use std::borrow::Cow;
use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::learner::LearnerChoice;
use crate::by_kind::ByKind;
use crate::classifier::boosting::BoostingParams;
use crate::encoder::TransformerParams;
use crate::error::Result;
use crate::scorer::neural::{NetworkParams, NeuralParams};
use crate::scorer::perceptron::{OnlineParams, StructuredParams};

/// A training method with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MethodChoice {
    /// A perceptron that learns while parsing.
    OnlinePerceptron(OnlineParams),
    /// A perceptron that learns from whole derivations.
    StructuredPerceptron(StructuredParams),
    /// Networks.
    Neural(NeuralParams),
    /// Boosted trees over candidates.
    Boosting(BoostingParams),
    /// A learner of instances.
    #[serde(untagged)]
    Batch(LearnerChoice),
}

/// The methods that are not learners of instances, with their descriptions.
const OWN: [(&str, &str); 4] = [
    ("online-perceptron", "Averaged perceptron that learns while parsing."),
    (
        "structured-perceptron",
        "Averaged perceptron that learns from whole derivations, found with a beam.",
    ),
    ("neural", "A neural network that learns while parsing."),
    ("boosting", "Boosted decision trees over candidates, an ensemble for each label."),
];

impl Default for MethodChoice {
    fn default() -> Self {
        Self::OnlinePerceptron(OnlineParams::default())
    }
}

impl MethodChoice {
    /// Whether training has epochs, and so a learning curve.
    pub fn has_epochs(&self) -> bool {
        matches!(self, Self::OnlinePerceptron(_) | Self::StructuredPerceptron(_) | Self::Neural(_))
    }

    /// Whether the model predicts tags itself.
    pub fn predicts_tags(&self) -> bool {
        matches!(self, Self::Neural(params) if params.network.untagged() > 0.0)
    }

    /// The multiply-adds for a word in all networks, as [`PositionsParams::multiply_adds`] counts them; `None` for other
    /// networks, for other learners, and with pretrained embeddings, whose size the settings do not tell.
    ///
    /// [`PositionsParams::multiply_adds`]: crate::scorer::neural::positions::PositionsParams::multiply_adds
    pub fn multiply_adds(&self) -> Option<u64> {
        let Self::Neural(params) = self else { return None };
        match &params.network {
            NetworkParams::Positions(sizes) if params.pretrained.is_empty() => {
                Some(u64::from(params.models) * sizes.multiply_adds()?)
            }
            _ => None,
        }
    }

    /// The settings of a pretrained encoder, if there is one.
    pub fn encoder_mut(&mut self) -> Option<&mut TransformerParams> {
        if let Self::Neural(params) = self { params.network.encoder_mut() } else { None }
    }

    /// Cuts the path of a pretrained encoder down to the name of its folder: parsing does not need the folder, and models
    /// do not name places on the machine that they were trained on.
    pub fn forget_folder(&mut self) {
        if let Some(encoder) = self.encoder_mut() {
            let name = Path::new(&encoder.path).file_name().unwrap_or_default();
            encoder.path = name.display().to_string();
        }
    }

    /// Lets the number of training trees decide how many epochs networks are trained for.
    pub fn forget_epochs(&mut self) {
        if let Self::Neural(params) = self {
            params.epochs = 0;
        }
    }

    /// The number of networks that are trained one after the other; 1 for other learners.
    pub fn models(&self) -> u32 {
        if let Self::Neural(params) = self { params.models } else { 1 }
    }

    /// The learner of a part that was trained apart from the others: one network, or some labels of boosted trees.
    #[must_use]
    pub fn part(&self) -> Self {
        let mut part = match self {
            Self::Neural(params) => Self::Neural(NeuralParams { models: 1, ..params.clone() }),
            other => other.uncalibrated(),
        };
        part.forget_folder();
        part
    }

    /// The same without settings that may change after training: the threshold of boosted trees.
    #[must_use]
    pub fn uncalibrated(&self) -> Self {
        match self {
            Self::Boosting(params) => {
                Self::Boosting(BoostingParams { threshold: 0.0, ..params.clone() })
            }
            other => other.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for MethodChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = ByKind::read(deserializer)?;
        match read.kind.as_deref() {
            Some("online-perceptron") => read.settings().map(Self::OnlinePerceptron),
            Some("structured-perceptron") => read.settings().map(Self::StructuredPerceptron),
            Some("neural") => read.settings().map(Self::Neural),
            Some("boosting") => read.settings().map(Self::Boosting),
            _ => read.whole().map(Self::Batch),
        }
    }
}

impl JsonSchema for MethodChoice {
    fn schema_name() -> Cow<'static, str> {
        "MethodChoice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let own = [
            OnlineParams::json_schema(generator),
            StructuredParams::json_schema(generator),
            NeuralParams::json_schema(generator),
            BoostingParams::json_schema(generator),
        ];
        let mut variants: Vec<Value> = OWN.iter().zip(own).map(tagged).collect();
        let batch = LearnerChoice::json_schema(generator).to_value();
        // Boosting over instances is only a component of other learners.
        let is_own = |variant: &&Value| variant["properties"]["kind"]["const"] == "boosting";
        let batch = batch["oneOf"].as_array().into_iter().flatten();
        variants.extend(batch.filter(|variant| !is_own(variant)).cloned());
        json_schema!({ "oneOf": variants })
    }
}

/// The schema of a kind's settings with its tag.
fn tagged(((kind, description), settings): (&(&str, &str), Schema)) -> Value {
    let mut schema = settings.to_value();
    schema["description"] = (*description).into();
    schema["properties"]["kind"] = serde_json::json!({ "type": "string", "const": kind });
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    schema["required"] = required.into_iter().chain(["kind".into()]).collect();
    schema
}
