// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What comes from outside, for fuzzers: one function for each structure that a peer, a daemon or
//! the kernel fills in. Each takes any bytes and asserts what the rest of the library relies on.
//!
//! `fuzz/run` feeds them with coverage; the tests here feed them, on any compiler, the corpus in
//! `fuzz/`, every cut and every extreme byte of it, and random bytes.

pub use crate::addrinfo::fuzz_acm_reply as acm_reply;
pub use crate::rsocket::fuzz::{
    connection_data, datagram_slot, iomap_entry, sgl_entry, stream_messages, udp_packet,
};
pub use crate::uapi::{
    fuzz_event as kernel_event, fuzz_netlink as netlink_answer, fuzz_path_record as path_record,
};

/// A function that takes any bytes.
pub type Target = fn(&[u8]);

/// All of them, by the names of their corpora.
pub const TARGETS: [(&str, Target); 10] = [
    ("acm_reply", acm_reply),
    ("connection_data", connection_data),
    ("datagram_slot", datagram_slot),
    ("iomap_entry", iomap_entry),
    ("kernel_event", kernel_event),
    ("netlink_answer", netlink_answer),
    ("path_record", path_record),
    ("sgl_entry", sgl_entry),
    ("stream_messages", stream_messages),
    ("udp_packet", udp_packet),
];

#[cfg(test)]
mod tests {
    use super::*;
    use base::random::Random;
    use std::path::Path;

    /// Long enough for every structure.
    const LONGEST: u64 = 400;
    const RANDOM_INPUTS: u32 = 20_000;
    const EXTREMES: [u8; 6] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF];

    fn corpus(name: &str) -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read(file.path()).ok()).collect()
    }

    #[test]
    fn the_corpus_with_every_cut_and_extreme_byte() {
        for (name, target) in TARGETS {
            let inputs = corpus(name);
            assert!(!inputs.is_empty(), "{name} has no corpus");
            for input in inputs {
                for length in 0..=input.len() {
                    target(&input[..length]);
                }
                for place in 0..input.len() {
                    for (extreme, width) in EXTREMES.iter().zip([1, 2, 4, 8, 16, 1]) {
                        let mut changed = input.clone();
                        let end = (place + width).min(input.len());
                        changed[place..end].fill(*extreme);
                        target(&changed);
                    }
                }
                let mut longer = input.clone();
                longer.resize(input.len() + 64, 0xFF);
                target(&longer);
            }
        }
    }

    #[test]
    fn random_changes_of_the_corpus() {
        let mut random = Random::new(2026);
        for (name, target) in TARGETS {
            let inputs = corpus(name);
            for _ in 0..RANDOM_INPUTS {
                let mut bytes = vec![0; random.below(LONGEST) as usize];
                random.fill(&mut bytes);
                target(&bytes);
                let mut changed = inputs[random.below(inputs.len() as u64) as usize].clone();
                for _ in 0..random.below(4) {
                    let place = random.below(changed.len() as u64) as usize;
                    if let Some(byte) = changed.get_mut(place) {
                        *byte = random.draw() as u8;
                    }
                }
                target(&changed);
            }
        }
    }
}
