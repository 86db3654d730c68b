//! Reader for safetensors: the length of a header (64 bits, little-endian), the header in JSON, the tensors' bytes.
//!
//! The crate `safetensors` (0.8.0) is not used for reading, as its checks are not enough here. It does check that the
//! header is at most 100 MB long and within the file, UTF-8 and JSON; that offsets, sorted, follow each other without
//! gap or overlap up to the very end of the file; that shape times type overflows nowhere and is what the offsets span;
//! and that types are known. It does not refuse a name that is there twice (the last one wins silently), its errors do
//! not say which tensor has the wrong size, it holds the header as a tree of values many times as long before it looks
//! at it, and it adds the length of the header to the last offset unchecked, which eight tensors of nearly 2^61 bytes
//! let overflow (a panic where overflow is checked). This reader makes the same checks and those. What it takes the
//! crate takes too, which a test verifies.

use super::error::{Fault, Format, WeightsError, duplicate, short};
use super::metadata::{Metadata, Value};
use super::storage::Storage;
use super::{Contents, Place, file};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of the header's length.
const PREFIX: usize = 8;

/// The longest header in bytes, as in the crate.
const LONGEST_HEADER: u64 = 100_000_000;

/// The key of the header that is no tensor.
const METADATA: &str = "__metadata__";

/// Characters that are repeated of what the JSON reader says.
const LONGEST_MESSAGE: usize = 200;

/// Whether a file is of this format, as far as its first nine bytes tell: a header begins with a brace (the format says
/// so), and a length of eight letters would be one that no file has.
pub(super) fn begins_like(bytes: &[u8]) -> bool {
    bytes.get(PREFIX) == Some(&b'{') && !file::is_text(&bytes[..PREFIX])
}

/// Reads a whole file.
pub(super) fn read(bytes: &[u8]) -> Result<Contents, WeightsError> {
    let (text, data) = split(bytes)?;
    let header: Header = serde_json::from_str(text).map_err(|error| {
        let message = one_line(&error);
        refusal(PREFIX + position(text, &error), Fault::Header { message })
    })?;
    // Where a name is written for the first time; the start of the header if it is written with escapes.
    let at = |name: &str| PREFIX + text.find(&format!("\"{name}\"")).unwrap_or(0);

    let mut metadata = Metadata::default();
    for (key, value) in header.metadata.unwrap_or_default().0 {
        if !metadata.add(&key, Value::Text(value)) {
            return Err(refusal(at(&key), duplicate("metadata key", &key)));
        }
    }
    if let Some(name) = twice(&header.tensors) {
        return Err(refusal(at(name), duplicate("tensor", name)));
    }
    let tensors = placed(header.tensors, bytes.len() - data.len(), data.len(), at)?;
    Ok(Contents { tensors, metadata })
}

/// Header and data.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), WeightsError> {
    let Some((length, rest)) = bytes.split_first_chunk::<PREFIX>() else {
        let fault = Fault::Truncated {
            what: "the length of the header",
            wanted: PREFIX as u64,
            left: bytes.len(),
        };
        return Err(refusal(0, fault));
    };
    let length = u64::from_le_bytes(*length);
    if length > LONGEST_HEADER {
        let fault = Fault::HeaderLength {
            length,
            limit: LONGEST_HEADER,
        };
        return Err(refusal(0, fault));
    }
    let parts = usize::try_from(length)
        .ok()
        .and_then(|length| rest.split_at_checked(length));
    let Some((header, data)) = parts else {
        let fault = Fault::Truncated {
            what: "the header",
            wanted: length,
            left: rest.len(),
        };
        return Err(refusal(PREFIX, fault));
    };
    match std::str::from_utf8(header) {
        Ok(header) => Ok((header, data)),
        Err(error) => {
            let what = "the header";
            Err(refusal(PREFIX + error.valid_up_to(), Fault::Text { what }))
        }
    }
}

/// A name that was there before.
fn twice(entries: &[(String, Entry)]) -> Option<&str> {
    let mut names = BTreeSet::new();
    entries
        .iter()
        .map(|(name, _)| name.as_str())
        .find(|name| !names.insert(*name))
}

/// Places tensors of different names in the file, whose data begin at `data` and are `room` bytes long.
fn placed(
    mut entries: Vec<(String, Entry)>,
    data: usize,
    room: usize,
    at: impl Fn(&str) -> usize,
) -> Result<BTreeMap<String, Place>, WeightsError> {
    entries.sort_by_key(|(_, entry)| entry.data_offsets);
    let mut tensors = BTreeMap::new();
    // End and name of the tensor before.
    let mut end = 0;
    let mut last = "";
    for (name, entry) in &entries {
        let refuse = |fault| Err(refusal(at(name), fault));
        let storage = match entry.dtype.as_str() {
            "F32" => Storage::F32,
            "F16" => Storage::F16,
            "BF16" => Storage::Bf16,
            other => {
                return refuse(Fault::TensorType {
                    tensor: short(name),
                    found: format!("{:?}", short(other)),
                });
            }
        };
        let (shape, bytes) = match storage.measured(name, &entry.shape) {
            Ok(measured) => measured,
            Err(fault) => return refuse(fault),
        };
        let (from, to) = entry.data_offsets;
        if to.checked_sub(from) != Some(bytes as u64) {
            return refuse(Fault::Length {
                tensor: short(name),
                from,
                to,
                wanted: bytes as u64,
            });
        }
        if to > room as u64 {
            return refuse(Fault::Outside {
                tensor: short(name),
                offset: from,
                bytes: bytes as u64,
                room,
            });
        }
        // From here on both lie within the file, and so do their sums with its data's beginning.
        let range = from as usize..to as usize;
        if range.start < end {
            return refuse(Fault::Overlap {
                first: short(last),
                second: short(name),
            });
        }
        if range.start > end {
            return Err(hole(data, end, range.start));
        }
        let place = Place {
            shape,
            storage,
            range: data + range.start..data + range.end,
        };
        tensors.insert(name.clone(), place);
        end = range.end;
        last = name;
    }
    if end == room {
        Ok(tensors)
    } else {
        Err(hole(data, end, room))
    }
}

fn hole(data: usize, from: usize, to: usize) -> WeightsError {
    let fault = Fault::Hole {
        from: from as u64,
        to: to as u64,
    };
    refusal(data + from, fault)
}

/// The header: its keys in the order of the file, those that are there twice included.
#[derive(Default)]
struct Header {
    metadata: Option<Texts>,
    tensors: Vec<(String, Entry)>,
}

/// A tensor's description.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    /// First byte and the one after the last, from the start of the data.
    data_offsets: (u64, u64),
}

/// Keys and texts in the order of the file, keys that are there twice included.
#[derive(Default)]
struct Texts(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Header;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object with a key for each tensor")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut header = Header::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key != METADATA {
                        header.tensors.push((key, map.next_value()?));
                    } else if header.metadata.replace(map.next_value()?).is_some() {
                        return Err(A::Error::duplicate_field(METADATA));
                    }
                }
                Ok(header)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Texts;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
                let mut texts = Texts::default();
                while let Some(pair) = map.next_entry()? {
                    texts.0.push(pair);
                }
                Ok(texts)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// Where the JSON reader stopped, in bytes from the start of the header; it counts lines, and bytes within a line.
fn position(header: &str, error: &serde_json::Error) -> usize {
    let before = error.line().saturating_sub(1);
    let line: usize = header.split_inclusive('\n').take(before).map(str::len).sum();
    (line + error.column().saturating_sub(1)).min(header.len())
}

/// What the JSON reader says, which may repeat anything that the header says, without its count of lines.
fn one_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(message, _)| message);
    let printed = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().take(LONGEST_MESSAGE).map(printed).collect()
}

fn refusal(at: usize, fault: Fault) -> WeightsError {
    WeightsError::Malformed {
        format: Format::Safetensors,
        at,
        fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::tensor::{Dtype, TensorView};

    /// A file with this header, and zeros as data.
    fn file(header: &str, data: usize) -> Vec<u8> {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        file.extend(vec![0; data]);
        file
    }

    /// Where and why a file is refused.
    fn refused(file: &[u8]) -> (usize, Fault) {
        match read(file) {
            Err(WeightsError::Malformed {
                format: Format::Safetensors,
                at,
                fault,
            }) => (at, fault),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("not refused"),
        }
    }

    fn sentence(header: &str, data: usize) -> String {
        refused(&file(header, data)).1.to_string()
    }

    #[test]
    fn what_the_crate_writes_is_read() {
        let bytes: Vec<u8> = (0..24).collect();
        let view = |dtype, shape: &[usize], bytes| TensorView::new(dtype, shape.to_vec(), bytes).unwrap();
        let about = [("format".to_owned(), "pt".to_owned())].into();
        let file = safetensors::serialize(
            [
                ("half", view(Dtype::F16, &[2, 2], &bytes[..8])),
                ("brain", view(Dtype::BF16, &[1, 3], &bytes[8..14])),
                ("single", view(Dtype::F32, &[], &bytes[14..18])),
                ("none", view(Dtype::F32, &[0, 5], &[])),
            ],
            Some(about),
        )
        .unwrap();
        assert!(begins_like(&file));
        let contents = read(&file).unwrap();
        let found: Vec<_> = contents
            .tensors
            .iter()
            .map(|(name, place)| {
                (
                    name.as_str(),
                    place.storage,
                    &place.shape[..],
                    &file[place.range.clone()],
                )
            })
            .collect();
        let wanted: [(&str, Storage, &[usize], &[u8]); 4] = [
            ("brain", Storage::Bf16, &[1, 3], &bytes[8..14]),
            ("half", Storage::F16, &[2, 2], &bytes[..8]),
            ("none", Storage::F32, &[0, 5], &[]),
            ("single", Storage::F32, &[], &bytes[14..18]),
        ];
        assert_eq!(found, wanted);
        assert_eq!(contents.metadata.text("format"), Ok(Some("pt")));
    }

    #[test]
    fn a_header_behind_the_end_of_the_file_is_refused() {
        let mut file = file("{}", 0);
        file[..8].copy_from_slice(&3_u64.to_le_bytes());
        assert_eq!(
            refused(&file),
            (
                8,
                Fault::Truncated {
                    what: "the header",
                    wanted: 3,
                    left: 2
                }
            )
        );
        assert!(matches!(refused(&file[..7]).1, Fault::Truncated { left: 7, .. }));
    }

    #[test]
    fn a_header_of_more_than_the_format_allows_is_refused() {
        for length in [LONGEST_HEADER + 1, u64::MAX] {
            let mut file = file("{}", 0);
            file[..8].copy_from_slice(&length.to_le_bytes());
            let limit = LONGEST_HEADER;
            assert_eq!(refused(&file), (0, Fault::HeaderLength { length, limit }));
        }
    }

    #[test]
    fn a_header_that_is_no_text_is_refused_where_it_is_not() {
        let mut file = file("{\"a\":1}", 0);
        file[10] = 0xff;
        assert_eq!(refused(&file), (10, Fault::Text { what: "the header" }));
    }

    #[test]
    fn a_header_that_is_no_json_is_refused_where_it_goes_wrong() {
        let (at, fault) = refused(&file("{\n \"a\": nil}", 0));
        assert_eq!(fault.to_string(), "the header is wrong: expected ident");
        // At the `i`, or one letter to either side of it: the readers of JSON differ.
        assert!((17..=19).contains(&at), "{at}");
        assert!(sentence("{\"a\":{\"dtype\":\"F32\"}}", 0).contains("missing field `shape`"));
        assert!(sentence("[]", 0).contains("expected an object with a key for each tensor"));
        assert!(sentence("{\"__metadata__\":{\"a\":1}}", 0).contains("expected a string"));
        assert!(sentence("{}{}", 0).contains("trailing characters"));
    }

    #[test]
    fn what_the_json_reader_repeats_stays_on_one_short_line() {
        let header = format!("{{\"a\":{{\"b\\n{}\":1}}}}", "c".repeat(5000));
        let text = sentence(&header, 0);
        assert!(text.contains("unknown field `b c"), "{text}");
        assert!(!text.contains('\n') && text.len() < 300, "{text}");
    }

    #[test]
    fn headers_nested_without_end_are_refused() {
        let deep = "[".repeat(100_000);
        assert!(sentence(&format!("{{\"a\":{{\"shape\":{deep}"), 0).starts_with("the header is wrong"));
        assert!(sentence(&format!("{{\"__metadata__\":{deep}"), 0).starts_with("the header is wrong"));
    }

    #[test]
    fn a_type_that_is_not_read_is_named_with_its_tensor() {
        let header = r#"{"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
        assert_eq!(
            sentence(header, 8),
            "tensor \"w\" is stored as \"F64\"; F32, F16, BF16, and in GGUF Q8_0, Q4_0, Q4_1 can be read, convert it"
        );
        assert_eq!(refused(&file(header, 8)).0, 9);
    }

    #[test]
    fn a_name_that_is_there_twice_is_refused_though_the_crate_takes_it() {
        let entry = r#""w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#;
        let twice = file(&format!("{{{entry},{entry}}}"), 4);
        assert!(safetensors::SafeTensors::deserialize(&twice).is_ok());
        assert_eq!(refused(&twice).1, duplicate("tensor", "w"));
        let header = r#"{"__metadata__":{"a":"b","a":"c"}}"#;
        assert_eq!(refused(&file(header, 0)).1, duplicate("metadata key", "a"));
        let header = r#"{"__metadata__":{},"__metadata__":{}}"#;
        assert!(sentence(header, 0).contains("duplicate field `__metadata__`"));
    }

    #[test]
    fn sizes_that_overflow_are_refused() {
        let entry =
            |shape: &str| format!("{{\"w\":{{\"dtype\":\"F16\",\"shape\":{shape},\"data_offsets\":[0,0]}}}}");
        for shape in [
            "[9223372036854775808]",
            "[4294967296,4294967296]",
            "[18446744073709551615,2,0]",
        ] {
            assert!(
                sentence(&entry(shape), 0).contains("more elements than can be counted"),
                "{shape}"
            );
        }
        assert!(sentence(&entry("[18446744073709551616]"), 0).starts_with("the header is wrong"));
        assert!(sentence(&entry("[-1]"), 0).starts_with("the header is wrong"));
    }

    #[test]
    fn offsets_up_to_the_last_number_of_64_bits_are_refused() {
        let bytes = (1_u64 << 61) - 8;
        let entries: Vec<String> = (0..8)
            .map(|i| {
                let (shape, from, to) = (bytes / 4, bytes * i, bytes * (i + 1));
                format!("\"{i}\":{{\"dtype\":\"F32\",\"shape\":[{shape}],\"data_offsets\":[{from},{to}]}}")
            })
            .collect();
        let refused = sentence(&format!("{{{}}}", entries.join(",")), 0);
        assert!(refused.contains("cut short or damaged"), "{refused}");
    }

    #[test]
    fn a_tensor_outside_of_the_file_is_refused() {
        let (_, fault) = refused(&file(&pair(4), 7));
        assert!(matches!(
            fault,
            Fault::Outside {
                offset: 4,
                bytes: 4,
                room: 7,
                ..
            }
        ));
    }

    #[test]
    fn a_tensor_of_more_or_fewer_bytes_than_its_shape_takes_is_refused() {
        for offsets in ["[0,8]", "[0,3]", "[4,0]", "[18446744073709551615,3]"] {
            let header = format!("{{\"w\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":{offsets}}}}}");
            assert!(
                sentence(&header, 8).ends_with("its shape and type take 4 bytes"),
                "{offsets}"
            );
        }
    }

    /// Two tensors of four bytes, the second from `from` on.
    fn pair(from: usize) -> String {
        let to = from + 4;
        format!(
            "{{\"b\":{{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[{from},{to}]}},\
             \"a\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}}}"
        )
    }

    #[test]
    fn tensors_that_share_a_byte_are_refused() {
        assert!(read(&file(&pair(4), 8)).is_ok());
        assert_eq!(
            sentence(&pair(2), 6),
            "tensors \"a\" and \"b\" overlap; the file is damaged or made to deceive"
        );
        assert!(sentence(&pair(0), 4).contains("overlap"));
    }

    #[test]
    fn bytes_of_no_tensor_are_refused_between_them_and_behind_them() {
        assert_eq!(
            sentence(&pair(8), 12),
            "bytes 4 to 8 of the data belong to no tensor; safetensors has no holes"
        );
        let header = pair(4);
        let (at, fault) = refused(&file(&header, 9));
        assert_eq!(
            (at, fault),
            (8 + header.len() + 8, Fault::Hole { from: 8, to: 9 })
        );
    }

    #[test]
    fn a_file_cut_anywhere_is_refused() {
        let whole = file(&pair(4), 8);
        for end in 0..whole.len() {
            let (at, _) = refused(&whole[..end]);
            assert!(at <= end, "{at} of {end}");
        }
    }
}
