//! Model files with right checksums and wrong contents.

use serde_json::Value;

/// Choices that are read from bytes, so that a fuzzer or a random stream makes them. When the bytes are used up,
/// every choice is the first.
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        let mut value = 0;
        let mut possible = 1;
        while possible < n {
            let Some((&byte, rest)) = self.0.split_first() else { break };
            self.0 = rest;
            value = value << 8 | usize::from(byte);
            possible <<= 8;
        }
        value % n.max(1)
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }
}

struct Section {
    name: String,
    element: String,
    bytes: Vec<u8>,
}

/// The parts of a model file.
struct Parts {
    header: Value,
    sections: Vec<Section>,
}

/// The parts of a section table that the header of a file has.
const TABLE: &str = "sections";
const ELEMENTS: [&str; 7] = ["u8", "i8", "u16", "u32", "u64", "f32", "f64"];

impl Parts {
    fn of(file: &[u8]) -> Self {
        let length = u32::from_le_bytes(file[12..16].try_into().expect("four bytes")) as usize;
        let mut header: Value = serde_json::from_slice(&file[20..20 + length]).expect("JSON");
        let table = header.as_object_mut().and_then(|header| header.remove(TABLE));
        let number = |entry: &Value, key: &str| entry[key].as_u64().expect("a number") as usize;
        let text = |entry: &Value, key: &str| entry[key].as_str().expect("text").to_owned();
        let section = |entry: &Value| Section {
            name: text(entry, "name"),
            element: text(entry, "element"),
            bytes: file[number(entry, "offset")..][..number(entry, "bytes")].to_vec(),
        };
        let sections =
            table.iter().flat_map(|table| table.as_array()).flatten().map(section).collect();
        Self { header, sections }
    }

    /// The file, with right checksums. The section table itself may be changed before it is written.
    fn assemble(mut self, change: impl FnOnce(&mut Value)) -> Vec<u8> {
        if !self.header.is_object() {
            self.header = serde_json::json!({});
        }
        const ROOM: usize = 1 << 12;
        let (mut table, mut body) = (Vec::new(), Vec::new());
        // Offsets are counted from the end of the header, whose length is known later.
        for Section { name, element, bytes } in &self.sections {
            table.push(serde_json::json!({
                "name": name, "element": element, "offset": body.len(), "bytes": bytes.len(),
                "crc32": crc32fast::hash(bytes),
            }));
            body.extend_from_slice(bytes);
            body.resize(body.len().next_multiple_of(64), 0);
        }
        self.header[TABLE] = Value::Array(table);
        let length = serde_json::to_vec(&self.header).map_or(0, |json| json.len());
        let first = (length + ROOM).next_multiple_of(64);
        for entry in self.header[TABLE].as_array_mut().into_iter().flatten() {
            entry["offset"] = (entry["offset"].as_u64().unwrap_or(0) + first as u64).into();
        }
        change(&mut self.header[TABLE]);
        let json = serde_json::to_vec(&self.header).expect("JSON");
        let mut file = b"SRPARSE\0".to_vec();
        file.extend(srparse::model::file::FORMAT_VERSION.to_le_bytes());
        file.extend((json.len() as u32).to_le_bytes());
        file.extend(crc32fast::hash(&json).to_le_bytes());
        file.extend(json);
        file.resize(file.len().max(first), 0);
        file.extend(body);
        file
    }
}

/// A model file with one to four changes and right checksums.
pub fn damaged(file: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let mut parts = Parts::of(file);
    let mut in_table = false;
    for _ in 0..=choices.below(4) {
        match choices.below(8) {
            0..=2 => change_value(&mut parts.header, choices),
            3 | 4 => change_element(&mut parts.sections, choices),
            5 => change_bytes(&mut parts.sections, choices),
            6 => change_sections(&mut parts.sections, choices),
            _ => in_table = true,
        }
    }
    parts.assemble(|table| {
        if in_table {
            change_value(table, choices);
        }
    })
}

/// A model file with a changed header and right checksums.
#[allow(dead_code)]
pub fn changed_header(file: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut parts = Parts::of(file);
    change(&mut parts.header);
    parts.assemble(|_| ())
}

/// Replaces a value somewhere inside, or changes its list.
fn change_value(mut value: &mut Value, choices: &mut Choices<'_>) {
    while choices.below(8) != 0 {
        let (is_whole, at) = match value {
            Value::Object(object) => (object.is_empty(), choices.below(object.len())),
            Value::Array(list) => (list.is_empty(), choices.below(list.len())),
            _ => (true, 0),
        };
        if is_whole {
            break;
        }
        value = match value {
            Value::Object(object) => object.values_mut().nth(at).expect("below its length"),
            Value::Array(list) => &mut list[at],
            _ => return,
        };
    }
    match value {
        Value::Array(list) if !list.is_empty() => {
            let (at, other) = (choices.below(list.len()), choices.below(list.len()));
            match choices.below(5) {
                0 => drop(list.remove(at)),
                1 => list.swap(at, other),
                2 => list.push(list[at].clone()),
                3 => list.truncate(at),
                _ => (0..2_000).for_each(|_| list.push(list[at].clone())),
            }
        }
        Value::String(text) if choices.below(2) == 0 => change_text(text, choices),
        Value::Number(number) if choices.below(2) == 0 => {
            let near = number.as_u64().unwrap_or(0);
            *value = choices
                .of(&[near.wrapping_add(1), near.saturating_sub(1), near.wrapping_mul(2)])
                .into();
        }
        _ => *value = strange(choices),
    }
}

fn strange(choices: &mut Choices<'_>) -> Value {
    use serde_json::json;
    choices.of(&[
        json!(null),
        json!(0),
        json!(1),
        json!(-1),
        json!(1u64 << 31),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(1e308),
        json!(-0.5),
        json!(true),
        json!(""),
        json!("TOP"),
        json!([]),
        json!([[]]),
        json!({}),
        json!("x".repeat(100_000)),
    ])
}

fn change_text(text: &mut String, choices: &mut Choices<'_>) {
    match choices.below(6) {
        0 => *text = format!("s0{}.w\n", ".r".repeat(60_000)),
        1 => *text = (0..20_000).map(|n| format!("s0{}.w b0.w\n", ".r".repeat(n % 200))).collect(),
        2 => {
            let categories: String = (0..100_000).map(|n| format!(" C{n}")).collect();
            *text = format!("NP right{categories}\n");
        }
        3 => *text = text.lines().skip(1).collect::<Vec<_>>().join("\n"),
        4 => *text = text.lines().rev().collect::<Vec<_>>().join("\n"),
        _ => {
            let at = choices.below(text.len().max(1));
            let kept: String = text.chars().take(at).collect();
            *text = kept + choices.of(&["", "\0", "(", ".", " ", "\u{e9}", "@kind\n", "s9.w\n"]);
        }
    }
}

/// Sets an element of a section to a strange number of its type.
fn change_element(sections: &mut [Section], choices: &mut Choices<'_>) {
    let n = sections.len();
    let Some(Section { element, bytes, .. }) = sections.get_mut(choices.below(n)) else { return };
    let width = match element.as_str() {
        "u16" => 2,
        "u32" | "f32" => 4,
        "u64" => 8,
        _ => 1,
    };
    if bytes.len() < width {
        return;
    }
    let at = choices.below(bytes.len() / width) * width;
    let number: [u8; 8] = if element == "f32" {
        let number = choices.of(&[
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            -f32::MAX,
            0.0,
            1e-40,
        ]);
        u64::from(number.to_bits()).to_le_bytes()
    } else {
        let doubled = f64::INFINITY.to_bits();
        let near = choices.below(300) as u64;
        choices.of(&[near, u64::MAX, 0, 1 << 31, 0x7fff, 0x8000, 65_000, doubled]).to_le_bytes()
    };
    let repeats = choices.of(&[1, 1, 2, 16, usize::MAX]);
    for element in bytes[at..].chunks_exact_mut(width).take(repeats) {
        element.copy_from_slice(&number[..width]);
    }
}

fn change_bytes(sections: &mut [Section], choices: &mut Choices<'_>) {
    let n = sections.len();
    let Some(Section { bytes, .. }) = sections.get_mut(choices.below(n)) else { return };
    let (from, n) = (choices.below(bytes.len()), choices.below(24));
    for byte in bytes.iter_mut().skip(from).take(n) {
        *byte = choices.below(256) as u8;
    }
}

/// Cuts, extends, exchanges, renames or removes sections.
fn change_sections(sections: &mut Vec<Section>, choices: &mut Choices<'_>) {
    let (at, other) = (choices.below(sections.len()), choices.below(sections.len()));
    if sections.is_empty() {
        return;
    }
    match choices.below(7) {
        0 => drop(sections.remove(at)),
        1 => sections[at].bytes = sections[other].bytes.clone(),
        2 => sections[at].element = choices.of(&ELEMENTS).to_owned(),
        3 => sections[at].name = sections[other].name.clone(),
        4 => {
            let length = choices.below(sections[at].bytes.len() + 1);
            sections[at].bytes.truncate(length);
        }
        5 => {
            let more = choices.of(&[1, 2, 4, 8, 64, 4096]);
            let length = sections[at].bytes.len() + more;
            sections[at].bytes.resize(length, choices.below(256) as u8);
        }
        _ => sections[at].bytes.clear(),
    }
}
