use super::*;
use crate::weights::metadata::List;
use crate::weights::write::GgufWriter;

/// Where and why a file is refused.
fn refused(file: &[u8]) -> (usize, Fault) {
    match read(file) {
        Err(WeightsError::Malformed {
            format: Format::Gguf,
            at,
            fault,
        }) => (at, fault),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

fn faulty(writer: &GgufWriter) -> Fault {
    refused(&writer.finish()).1
}

/// Where `bytes` are in the file for the first time.
fn place_of(file: &[u8], bytes: &[u8]) -> usize {
    file.windows(bytes.len())
        .position(|window| window == bytes)
        .unwrap()
}

/// One tensor of eight numbers, and a key.
fn plain() -> GgufWriter {
    GgufWriter::new()
        .value("llama.block_count", &Value::Unsigned(30))
        .tensor("w", &[2, 4], Storage::F32, &[1; 32])
}

/// The header's counts.
const TENSORS: usize = 8;
const PAIRS: usize = 16;

fn with_u64(file: &[u8], at: usize, number: u64) -> Vec<u8> {
    let mut file = file.to_vec();
    file[at..at + 8].copy_from_slice(&number.to_le_bytes());
    file
}

#[test]
fn versions_two_and_three_are_read_alike() {
    for version in [2, 3] {
        let contents = read(&plain().version(version).finish()).unwrap();
        assert_eq!(contents.metadata.unsigned("llama.block_count"), Ok(Some(30)));
        assert_eq!(contents.tensors["w"].shape, [2, 4]);
    }
}

#[test]
fn another_version_is_refused_by_its_number() {
    for found in [0, 1, 4, u32::MAX] {
        let file = plain().version(found).finish();
        assert_eq!(refused(&file), (4, Fault::Version { found }));
    }
}

#[test]
fn a_big_endian_file_is_called_so() {
    let file = plain().version(3_u32.swap_bytes()).finish();
    assert_eq!(refused(&file), (4, Fault::BigEndian));
}

#[test]
fn every_type_of_value_is_read() {
    let list = |number: u32, count: u64, items: &[u8]| {
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.extend(count.to_le_bytes());
        bytes.extend(items);
        bytes
    };
    let file = GgufWriter::new()
        .raw_value("u8", 0, &[200])
        .raw_value("i8", 1, &[200])
        .raw_value("u16", 2, &0xfffe_u16.to_le_bytes())
        .raw_value("i16", 3, &(-2_i16).to_le_bytes())
        .raw_value("u32", 4, &u32::MAX.to_le_bytes())
        .raw_value("i32", 5, &i32::MIN.to_le_bytes())
        .raw_value("f32", 6, &1e-5_f32.to_le_bytes())
        .raw_value("yes", 7, &[1])
        .raw_value("no", 7, &[0])
        .value("text", &Value::Text("grün".into()))
        .raw_value("u64", 10, &u64::MAX.to_le_bytes())
        .raw_value("i64", 11, &i64::MIN.to_le_bytes())
        .raw_value("f64", 12, &1e-300_f64.to_le_bytes())
        .raw_value("bytes", 9, &list(0, 3, &[1, 2, 255]))
        .raw_value("types", 9, &list(5, 2, &[1, 0, 0, 0, 255, 255, 255, 255]))
        .raw_value("scores", 9, &list(6, 1, &0.5_f32.to_le_bytes()))
        .value("flags", &Value::List(List::Flag(vec![true, false])))
        .value("none", &Value::List(List::Text(vec![])))
        .value(
            "tokens",
            &Value::List(List::Text(vec!["<s>".into(), String::new()])),
        )
        .value(
            "lists",
            &Value::List(List::List(vec![List::Signed(vec![-1]), List::Float(vec![])])),
        )
        .finish();
    let metadata = read(&file).unwrap().metadata;
    for (key, value) in [
        ("u8", Value::Unsigned(200)),
        ("i8", Value::Signed(-56)),
        ("u16", Value::Unsigned(0xfffe)),
        ("i16", Value::Signed(-2)),
        ("u32", Value::Unsigned(u32::MAX.into())),
        ("i32", Value::Signed(i32::MIN.into())),
        ("f32", Value::Float(1e-5_f32.into())),
        ("yes", Value::Flag(true)),
        ("no", Value::Flag(false)),
        ("text", Value::Text("grün".into())),
        ("u64", Value::Unsigned(u64::MAX)),
        ("i64", Value::Signed(i64::MIN)),
        ("f64", Value::Float(1e-300)),
        ("bytes", Value::List(List::Unsigned(vec![1, 2, 255]))),
        ("types", Value::List(List::Signed(vec![1, -1]))),
        ("scores", Value::List(List::Float(vec![0.5]))),
        ("flags", Value::List(List::Flag(vec![true, false]))),
        ("none", Value::List(List::Text(vec![]))),
        (
            "tokens",
            Value::List(List::Text(vec!["<s>".into(), String::new()])),
        ),
        (
            "lists",
            Value::List(List::List(vec![List::Signed(vec![-1]), List::Float(vec![])])),
        ),
    ] {
        assert_eq!(metadata.get(key), Some(&value), "{key}");
    }
}

#[test]
fn tensors_lie_where_their_offsets_say_in_whatever_order() {
    // The second is described first.
    let mut file = GgufWriter::new()
        .raw_tensor("b", &[2], 0, 64)
        .raw_tensor("a", &[3, 2], 1, 0)
        .finish();
    let data = file.len();
    file.extend([7; 12]);
    file.resize(data + 64, 0);
    file.extend([9; 8]);
    let tensors = read(&file).unwrap().tensors;
    assert_eq!(
        (&tensors["a"].shape, tensors["a"].storage),
        (&vec![2, 3], Storage::F16)
    );
    assert_eq!(file[tensors["a"].range.clone()], [7; 12]);
    assert_eq!(file[tensors["b"].range.clone()], [9; 8]);
}

#[test]
fn the_alignment_of_the_file_is_followed() {
    for alignment in [1, 8, 4096] {
        let file = GgufWriter::new()
            .alignment(alignment)
            .tensor("a", &[3], Storage::F16, &[1; 6])
            .tensor("b", &[1], Storage::F16, &[2; 2])
            .finish();
        let range = read(&file).unwrap().tensors["b"].range.clone();
        assert!(range.start.is_multiple_of(alignment as usize));
        assert_eq!(file[range], [2; 2], "{alignment}");
    }
}

#[test]
fn a_file_without_tensors_needs_no_data() {
    let contents = read(b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0").unwrap();
    assert!(contents.tensors.is_empty() && contents.metadata.iter().len() == 0);
}

#[test]
fn a_file_cut_anywhere_is_refused_and_says_where() {
    let file = plain().finish();
    for end in MAGIC.len()..file.len() {
        let (at, _) = refused(&file[..end]);
        assert!(at <= end, "{at} of {end}");
    }
    assert_eq!(
        refused(&file[..6]),
        (
            4,
            Fault::Truncated {
                what: "the version",
                wanted: 4,
                left: 2
            }
        )
    );
}

#[test]
fn counts_beyond_the_file_are_refused_before_anything_is_read() {
    let file = plain().finish();
    for count in [file.len() as u64, 1 << 32, i64::MAX as u64, u64::MAX] {
        let (at, fault) = refused(&with_u64(&file, TENSORS, count));
        assert!(matches!(fault, Fault::Count { what: "tensors", .. }), "{fault}");
        assert_eq!(at, TENSORS);
        let (at, fault) = refused(&with_u64(&file, PAIRS, count));
        assert!(
            matches!(fault, Fault::Count { count: found, .. } if found == count),
            "{fault}"
        );
        assert_eq!(at, PAIRS);
    }
}

#[test]
fn a_list_that_says_it_is_longer_than_the_file_is_refused() {
    for number in 0..=12_u32 {
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.extend((u64::MAX / 8).to_le_bytes());
        bytes.extend([0; 40]);
        let fault = faulty(&GgufWriter::new().raw_value("k", 9, &bytes));
        assert!(
            matches!(fault, Fault::Count { what: "items", .. }),
            "{number}: {fault}"
        );
    }
}

#[test]
fn a_text_that_says_it_is_longer_than_the_file_is_refused() {
    let file = plain().finish();
    // The key's length is the first thing after the header.
    let (at, fault) = refused(&with_u64(&file, 24, u64::MAX));
    assert_eq!(at, 32);
    assert!(matches!(
        fault,
        Fault::Truncated {
            what: "a key",
            wanted: u64::MAX,
            ..
        }
    ));
}

#[test]
fn bytes_that_are_no_text_are_refused_where_they_are() {
    let mut file = plain().finish();
    let key = place_of(&file, b"block_count");
    file[key + 3] = 0xff;
    assert_eq!(refused(&file), (key + 3, Fault::Text { what: "a key" }));
    let mut file = plain().finish();
    let name = place_of(&file, b"\x01\0\0\0\0\0\0\0w") + 8;
    file[name] = 0xc3;
    let what = "a tensor's name";
    assert_eq!(refused(&file), (name, Fault::Text { what }));
}

#[test]
fn a_value_of_a_type_that_does_not_exist_is_refused_by_its_key() {
    let key = "k".to_owned();
    let fault = faulty(&GgufWriter::new().raw_value("k", 13, &[0; 8]));
    assert_eq!(fault, Fault::ValueType { key, number: 13 });
    let mut items = 99_u32.to_le_bytes().to_vec();
    items.extend(0_u64.to_le_bytes());
    let fault = faulty(&GgufWriter::new().raw_value("k", 9, &items));
    assert!(matches!(fault, Fault::ValueType { number: 99, .. }));
}

#[test]
fn a_truth_value_is_nought_or_one() {
    let key = "k".to_owned();
    let fault = faulty(&GgufWriter::new().raw_value("k", 7, &[2]));
    assert_eq!(fault, Fault::Flag { key, found: 2 });
}

#[test]
fn lists_are_nested_four_deep_and_no_deeper() {
    let nested = |depth: usize| {
        let list = (1..depth).fold(List::Unsigned(vec![5]), |inner, _| List::List(vec![inner]));
        GgufWriter::new().value("k", &Value::List(list))
    };
    assert!(read(&nested(4).finish()).is_ok());
    assert!(matches!(faulty(&nested(5)), Fault::Depth { limit: 4, .. }));
    assert!(matches!(faulty(&nested(1000)), Fault::Depth { .. }));
}

#[test]
fn two_tensors_of_one_name_are_refused() {
    let fault = faulty(&plain().tensor("w", &[1], Storage::F32, &[0; 4]));
    assert_eq!(
        fault.to_string(),
        "tensor \"w\" is there twice; a name must be unique"
    );
}

#[test]
fn two_values_of_one_key_are_refused() {
    let fault = faulty(&plain().value("llama.block_count", &Value::Unsigned(31)));
    assert!(matches!(
        fault,
        Fault::Duplicate {
            what: "metadata key",
            ..
        }
    ));
}

#[test]
fn an_alignment_that_is_no_power_of_two_is_refused() {
    for alignment in [0, 3, 48, (1 << 20) + 1, 1 << 21, u32::MAX] {
        let file = GgufWriter::new().raw_value("general.alignment", 4, &alignment.to_le_bytes());
        let found = alignment.to_string();
        assert!(matches!(faulty(&file), Fault::Alignment { found: it, .. } if it == found));
    }
    let fault = faulty(&GgufWriter::new().value("general.alignment", &Value::Text("32".into())));
    assert_eq!(
        fault.to_string(),
        "general.alignment is text; it must be a power of two from 1 to 1048576"
    );
}

#[test]
fn a_tensor_of_more_than_four_axes_is_refused() {
    assert!(read(&GgufWriter::new().raw_tensor("w", &[1, 1, 1, 0], 0, 0).finish()).is_ok());
    let fault = faulty(&GgufWriter::new().raw_tensor("w", &[1; 5], 0, 0));
    assert!(matches!(
        fault,
        Fault::Rank {
            rank: 5,
            limit: 4,
            ..
        }
    ));
    let mut file = GgufWriter::new().raw_tensor("w", &[], 0, 0).finish();
    let rank = place_of(&file, b"w") + 1;
    file[rank..rank + 4].fill(0xff);
    let (at, fault) = refused(&file);
    assert!(at == rank && matches!(fault, Fault::Rank { rank: u32::MAX, .. }));
}

#[test]
fn a_type_that_is_not_read_is_named_with_its_tensor() {
    let fault = faulty(&GgufWriter::new().raw_tensor("blk.0.attn_q.weight", &[256], 14, 0));
    assert_eq!(
        fault.to_string(),
        "tensor \"blk.0.attn_q.weight\" is stored as type 14, Q6_K; F32, F16, BF16, and in GGUF Q8_0, Q4_0, Q4_1 \
         can be read, convert it"
    );
    let fault = faulty(&GgufWriter::new().raw_tensor("w", &[1], u32::MAX, 0));
    assert!(fault.to_string().contains("type 4294967295, which is not known"));
}

#[test]
fn rows_of_part_of_a_block_are_refused() {
    let fault = faulty(&GgufWriter::new().raw_tensor("w", &[48, 2], Storage::Q4_0.number(), 0));
    assert_eq!(
        fault.to_string(),
        "tensor \"w\" has rows of 48; Q4_0 stores multiples of 32"
    );
    // The far axis does not matter.
    let file = GgufWriter::new().tensor("w", &[3, 32], Storage::Q4_0, &[0; 54]);
    assert!(read(&file.finish()).is_ok());
}

#[test]
fn more_elements_than_can_be_counted_are_refused() {
    // An empty axis does not help where the others are multiplied first.
    for axes in [&[1 << 32, 1 << 32][..], &[0, u64::MAX, u64::MAX], &[1 << 62]] {
        let fault = faulty(&GgufWriter::new().raw_tensor("w", axes, 0, 0));
        assert_eq!(fault, Fault::Elements { tensor: "w".into() }, "{axes:?}");
    }
}

#[test]
fn a_tensor_off_the_alignment_is_refused() {
    let mut file = GgufWriter::new().raw_tensor("w", &[1], 0, 16).finish();
    file.extend([0; 64]);
    let (at, fault) = refused(&file);
    assert_eq!(file[at..at + 8], 16_u64.to_le_bytes());
    assert_eq!(
        fault.to_string(),
        "tensor \"w\" begins at 16 of the data; offsets must be multiples of 32"
    );
}

#[test]
fn a_tensor_outside_of_the_file_is_refused() {
    for (axis, offset) in [(9, 0), (8, 32), (1, 64), (1, u64::MAX - 31), (u64::MAX / 4, 32)] {
        let mut file = GgufWriter::new().raw_tensor("w", &[axis], 0, offset).finish();
        file.extend([0; 32]);
        assert!(
            matches!(refused(&file).1, Fault::Outside { room: 32, .. }),
            "{axis} {offset}"
        );
    }
}

#[test]
fn tensors_that_share_a_byte_are_refused() {
    let file = |second: u64| {
        let mut file = GgufWriter::new()
            .raw_tensor("b", &[8], 0, second)
            .raw_tensor("a", &[9], 0, 0)
            .finish();
        file.extend([0; 128]);
        file
    };
    assert!(read(&file(64)).is_ok());
    let (at, fault) = refused(&file(32));
    assert_eq!(file(32)[at..at + 8], 32_u64.to_le_bytes());
    assert_eq!(
        fault.to_string(),
        "tensors \"a\" and \"b\" overlap; the file is damaged or made to deceive"
    );
    assert!(matches!(refused(&file(0)).1, Fault::Overlap { .. }));
}

#[test]
fn an_empty_tensor_overlaps_nothing() {
    let mut file = GgufWriter::new()
        .raw_tensor("a", &[16], 0, 0)
        .raw_tensor("empty", &[0, 7], 0, 32)
        .raw_tensor("same", &[0], 0, 0)
        .finish();
    file.extend([0; 64]);
    assert_eq!(read(&file).unwrap().tensors.len(), 3);
}
