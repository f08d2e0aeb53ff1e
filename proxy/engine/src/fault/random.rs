//! Reproducible random numbers.

/// A random number generator that only depends on its seed (splitmix64, by Sebastiano Vigna, in the
/// public domain).
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// Random numbers for the `count`th message that a fault matched. Each message has its own, so
    /// that the numbers for one fault never influence another.
    #[must_use]
    pub fn new(seed: u64, name: &str, count: u64) -> Self {
        let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
        for byte in name.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut random = Self(state ^ count.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random
    }

    /// The next number.
    #[expect(
        clippy::should_implement_trait,
        reason = "random numbers never run out, so that an iterator would promise too little"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// A number from zero to `most`, inclusive.
    pub fn up_to(&mut self, most: u64) -> u64 {
        match most.checked_add(1) {
            Some(count) => self.next() % count,
            None => self.next(),
        }
    }

    /// True with a probability in millionths.
    pub fn falls(&mut self, millionths: u32) -> bool {
        self.next() % 1_000_000 < u64::from(millionths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_start_gives_the_same_throws() {
        let throws = |seed, name, count| {
            let mut random = Random::new(seed, name, count);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(throws(7, "a", 1), throws(7, "a", 1));
        assert_ne!(throws(7, "a", 1), throws(8, "a", 1));
        assert_ne!(throws(7, "a", 1), throws(7, "b", 1));
        assert_ne!(throws(7, "a", 1), throws(7, "a", 2));
    }

    #[test]
    fn chances_are_what_they_say() {
        let fell = (0..100_000)
            .filter(|count| Random::new(1, "x", *count).falls(300_000))
            .count();
        assert!((29_000..31_000).contains(&fell), "{fell}");
        assert!(!Random::new(1, "x", 1).falls(0));
        assert!((0..1_000).all(|count| Random::new(1, "x", count).falls(1_000_000)));
        assert!((0..1_000).all(|count| Random::new(3, "y", count).up_to(4) <= 4));
    }
}
