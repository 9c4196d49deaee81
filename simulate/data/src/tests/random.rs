//! Tests with random memories, numbers and texts.

use proptest::prelude::*;

use super::*;

/// A memory of any format, one to four dimensions, and a width of up to 200 bits, with any words.
fn any_memory() -> impl Strategy<Value = Memory> {
    let dims = prop::collection::vec(1..4_u64, 1..=4);
    let kind = prop_oneof![Just(None), any::<prop::sample::Index>().prop_map(Some)];
    let is_float = prop::option::weighted(0.3, prop_oneof![Just(32_u32), Just(64)]);
    (1..=200_u32, dims, any::<bool>(), kind, is_float).prop_flat_map(
        |(width, dims, is_signed, int_width, is_float)| {
            let width = is_float.unwrap_or(width);
            let text = match int_width {
                _ if is_float.is_some() => format!(
                    r#"{{"numeric_type": "ieee754_float", "is_signed": {is_signed}, "width": {width}}}"#
                ),
                None => format!(
                    r#"{{"numeric_type": "bitnum", "is_signed": {is_signed}, "width": {width}}}"#
                ),
                Some(index) => {
                    let int_width = index.index(width as usize + 1);
                    format!(
                        r#"{{"numeric_type": "fixed_point", "is_signed": {is_signed}, "width": {width}, "int_width": {int_width}}}"#
                    )
                }
            };
            let format: format::FormatText = serde_json::from_str(&text).unwrap();
            let format = Format::try_from(format).unwrap();
            let size = usize::try_from(dims.iter().product::<u64>()).unwrap();
            let word = prop_oneof![
                4 => prop::collection::vec(any::<u8>(), 25),
                1 => Just(vec![0xff; 25]),
                1 => Just(vec![0; 25]),
            ];
            prop::collection::vec(word, size).prop_map(move |words| Memory {
                name: "m".to_owned(),
                width: format.width(),
                format,
                dims: dims.clone(),
                words: words
                    .iter()
                    .map(|bytes| BigUint::from_bytes_le(bytes) % (BigUint::from(1_u32) << width))
                    .zip(0..)
                    .filter(|(word, _)| *word != BigUint::ZERO)
                    .map(|(word, index)| (index, word))
                    .collect(),
            })
        },
    )
}

proptest! {
    #[test]
    fn json_and_memory_files_keep_every_word(memory in any_memory()) {
        let layouts = [layout("m", memory.format.width(), &memory.dims)];
        let data = Data {
            origin: PathBuf::new(),
            memories: vec![memory],
            positions: vec![None],
            rounded: Vec::new(),
        };
        let mut again = parse(&data.to_json()).unwrap();
        prop_assert_eq!(&again, &data);
        again.check(&layouts).unwrap();

        let dir = tempfile::tempdir().unwrap();
        again.write_dat(dir.path()).unwrap();
        let written = std::fs::read_to_string(dir.path().join("m.dat")).unwrap();
        // What a simulation makes of it.
        let mut words = vec!["0"; usize::try_from(again.memories()[0].size()).unwrap()];
        let mut at = 0;
        for line in written.lines() {
            match line.strip_prefix('@') {
                Some(address) => at = usize::from_str_radix(address, 16).unwrap(),
                None => {
                    words[at] = line;
                    at += 1;
                }
            }
        }
        std::fs::write(dir.path().join("m.out"), words.join("\n")).unwrap();
        let after = Data::zeros(&layouts).read_out(dir.path()).unwrap();
        prop_assert_eq!(after.memories()[0].words(), data.memories()[0].words());
        prop_assert_eq!(again.read_out(dir.path()).unwrap().to_json(), data.to_json());
    }

    #[test]
    fn small_values_agree_with_machine_arithmetic(value in any::<i16>(), fraction in 0..=16_u32) {
        let format = format!(
            r#""numeric_type": "fixed_point", "is_signed": true, "width": 16, "frac_width": {fraction}"#
        );
        // Exact: a float has more bits than the word.
        let number = f64::from(value) / f64::from(fraction).exp2();
        let data = parse(&file(&format!("[{number}]"), &format)).unwrap();
        let bits = BigUint::from(value.cast_unsigned());
        let words = data.memories()[0].words();
        prop_assert_eq!(words.get(&0).cloned().unwrap_or_default(), bits);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in r#"[\[\]{}",:0-9.e/ \-]{0,40}"#) {
        let _ = parse(&text);
        let _ = parse(&file(&text, FIXED));
    }
}
