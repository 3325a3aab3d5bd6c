// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Pseudo-random numbers for tests: many different cases, and the same ones in each run.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit.max(1)
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = (self.draw() >> 32) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_stands_for_its_numbers() {
        let (mut one, mut same, mut other) = (Random::new(7), Random::new(7), Random::new(8));
        let numbers: Vec<_> = (0..100).map(|_| one.draw()).collect();
        assert!(numbers.iter().all(|number| *number == same.draw()));
        assert!(numbers.iter().any(|number| *number != other.draw()));
        assert!((0..1000).all(|_| one.below(10) < 10) && one.below(0) == 0);
    }
}
