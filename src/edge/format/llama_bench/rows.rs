//! The encodings of `llama-bench`: JSON, JSON lines, CSV, SQL and Markdown, told apart by how they begin.

use super::super::tally::Incidents;
use serde_json::{Map, Value};

/// One test: its fields by name. CSV, SQL and Markdown hold text only.
pub(super) type Row = Map<String, Value>;

/// Columns of Markdown, and the fields they show.
const COLUMNS: [(&str, &str); 20] = [
    ("model", "model_type"),
    ("size", "model_size"),
    ("params", "model_n_params"),
    ("backend", "backends"),
    ("ngl", "n_gpu_layers"),
    ("threads", "n_threads"),
    ("sm", "split_mode"),
    ("nkvo", "no_kv_offload"),
    ("fa", "flash_attn"),
    ("mmap", "use_mmap"),
    ("dio", "use_direct_io"),
    ("lm", "load_mode"),
    ("embd", "embeddings"),
    ("nopo", "no_op_offload"),
    ("noh", "no_host"),
    ("dev", "devices"),
    ("ts", "tensor_split"),
    ("ot", "tensor_buft_overrides"),
    ("fitt", "fit_target"),
    ("fitc", "fit_min_ctx"),
];

/// Reads one encoding.
type Reader = fn(&[u8]) -> Rows;

/// What a file holds.
#[derive(Default)]
pub(super) struct Rows {
    /// Rows that are whole.
    pub(super) rows: Vec<Row>,
    /// What was cut off or damaged.
    pub(super) incidents: Incidents,
}

/// All rows; nothing if no line begins like one of the encodings. Lines above the first that does are passed over: some
/// programs say there what they found.
pub(super) fn read(bytes: &[u8]) -> Option<Rows> {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if let Some(reader) = reader(line.trim_ascii()) {
            return Some(reader(bytes.get(at..).unwrap_or_default()));
        }
        at += line.len();
    }
    None
}

/// What reads a file that begins with this line.
fn reader(line: &[u8]) -> Option<Reader> {
    let is_list = line
        .strip_prefix(b"[")
        .is_some_and(|rest| matches!(rest.trim_ascii_start().first(), None | Some(b'{' | b']')));
    if is_list {
        Some(list)
    } else if line.starts_with(b"{") {
        Some(objects)
    } else if line.starts_with(b"CREATE TABLE") || line.starts_with(b"INSERT INTO") {
        Some(sql)
    } else if line.starts_with(b"|") {
        Some(markdown)
    } else {
        let names = String::from_utf8_lossy(line);
        let is_header = names.split(',').any(|name| name.trim_matches('"') == "n_prompt");
        is_header.then_some(table as Reader)
    }
}

/// JSON. Objects are written out one by one, so the last is whole or missing; the bracket at the end is missing if the
/// program did not come to its end.
fn list(bytes: &[u8]) -> Rows {
    let mut rows = objects(bytes);
    if rows.incidents.is_empty() && !bytes.trim_ascii_end().ends_with(b"]") {
        rows.incidents
            .push("the bracket at the end is missing: tests may be, too".to_owned());
    }
    rows
}

/// Objects, one after the other, whatever is between them.
fn objects(bytes: &[u8]) -> Rows {
    let mut rows = Rows::default();
    let mut rest = bytes;
    let mut number = 0;
    loop {
        let between = rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace() || b",[]".contains(byte))
            .count();
        rest = rest.get(between..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<Row>();
        number += 1;
        match stream.next() {
            None => return rows,
            Some(Ok(row)) => {
                rows.rows.push(row);
                rest = rest.get(stream.byte_offset()..).unwrap_or_default();
            }
            Some(Err(error)) if error.is_eof() => {
                rows.incidents.push(format!("row {number} was cut off"));
                return rows;
            }
            Some(Err(_)) => {
                rows.incidents.push(format!(
                    "row {number} is damaged: what follows on its lines was passed over"
                ));
                rest = next_object(rest);
            }
        }
    }
}

/// What follows from the next line on that begins with an object.
fn next_object(bytes: &[u8]) -> &[u8] {
    let mut at = 0;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if index > 0 && line.trim_ascii_start().starts_with(b"{") {
            return bytes.get(at..).unwrap_or_default();
        }
        at += line.len();
    }
    &[]
}

/// A header with the names of the fields, then a line for each test; all values are quoted.
fn table(bytes: &[u8]) -> Rows {
    let mut rows = Rows::default();
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let names = match reader.byte_headers() {
        Ok(names) => names.clone(),
        Err(_) => return rows,
    };
    // Bytes in memory can always be read, and lines may be of any length.
    for (index, record) in reader.byte_records().flatten().enumerate() {
        if record.len() == names.len() {
            let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let fields = names.iter().zip(&record);
            rows.rows.push(
                fields
                    .map(|(name, value)| (lossy(name), Value::String(lossy(value))))
                    .collect(),
            );
        } else {
            rows.incidents
                .push(incomplete(index + 1, record.len(), names.len()));
        }
    }
    rows
}

/// One `INSERT` a line. Its values are quoted, but a quote within one is not escaped: only where `', '` is in one of
/// them nobody can tell where it ends.
fn sql(bytes: &[u8]) -> Rows {
    let mut rows = Rows::default();
    let text = String::from_utf8_lossy(bytes);
    let inserts = text.lines().filter(|line| line.starts_with("INSERT INTO"));
    for (index, line) in inserts.enumerate() {
        let parts = line.split_once(" (").and_then(|(_, rest)| {
            let (names, values) = rest.split_once(") VALUES ('")?;
            Some((names, values.trim_end().strip_suffix("');")?))
        });
        let Some((names, values)) = parts else {
            rows.incidents.push(format!("row {} was cut off", index + 1));
            continue;
        };
        let names: Vec<&str> = names.split(", ").collect();
        let values: Vec<&str> = values.split("', '").collect();
        if names.len() == values.len() {
            let fields = names.into_iter().zip(values);
            rows.rows.push(
                fields
                    .map(|(name, value)| (name.to_owned(), value.into()))
                    .collect(),
            );
        } else {
            rows.incidents
                .push(incomplete(index + 1, values.len(), names.len()));
        }
    }
    rows
}

/// The table for people, which is written unless another encoding is asked for. It has the columns that were asked for,
/// and means of two decimals.
fn markdown(bytes: &[u8]) -> Rows {
    let mut rows = Rows::default();
    let text = String::from_utf8_lossy(bytes);
    let is_rule = |line: &&str| line.bytes().all(|byte| b"|-: ".contains(&byte));
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with('|'));
    let mut lines = lines.filter(|line| !is_rule(line));
    let names: Vec<&str> = lines.next().and_then(cells).unwrap_or_default();
    for (index, line) in lines.enumerate() {
        match cells(line) {
            Some(values) if values.len() == names.len() => {
                let mut row = Row::new();
                for (name, value) in names.iter().zip(values) {
                    fill(&mut row, name, value);
                }
                rows.rows.push(row);
            }
            Some(values) => rows
                .incidents
                .push(incomplete(index + 1, values.len(), names.len())),
            None => rows.incidents.push(format!("row {} was cut off", index + 1)),
        }
    }
    rows
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

/// Enters one cell of Markdown under the names that the other encodings have for it.
fn fill(row: &mut Row, name: &str, value: &str) {
    match name {
        "test" => {
            if let Some((prompt, generated, depth)) = test(value) {
                row.insert("n_prompt".to_owned(), prompt.into());
                row.insert("n_gen".to_owned(), generated.into());
                row.insert("n_depth".to_owned(), depth.into());
            }
        }
        "t/s" => {
            let mean = value.split('±').next().unwrap_or_default().trim();
            row.insert("avg_ts".to_owned(), mean.into());
        }
        _ => {
            let field = COLUMNS.iter().find(|(column, _)| *column == name);
            let field = field.map_or(name, |(_, field)| *field);
            row.insert(field.to_owned(), value.into());
        }
    }
}

/// Tokens of the prompt, generated ones, and the depth: `pp512`, `pp 512`, `tg128`, `pp512+tg128`, `tg128 @ d4096`.
fn test(text: &str) -> Option<(u64, u64, u64)> {
    let text = text.replace(' ', "");
    let (tokens, depth) = text.split_once("@d").unwrap_or((text.as_str(), "0"));
    let (prompt, generated) = match tokens.split_once('+') {
        Some((prompt, generated)) => (prompt.strip_prefix("pp")?, generated.strip_prefix("tg")?),
        None => match tokens.strip_prefix("pp") {
            Some(prompt) => (prompt, "0"),
            None => ("0", tokens.strip_prefix("tg")?),
        },
    };
    Some((prompt.parse().ok()?, generated.parse().ok()?, depth.parse().ok()?))
}

fn incomplete(row: usize, values: usize, names: usize) -> String {
    format!("row {row} is left out: it has {values} values for {names} fields")
}
