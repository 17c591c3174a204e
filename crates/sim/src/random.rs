//! Seeded randomness: the only source of chance in the simulated world.

/// SplitMix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
///
/// Not for secrets. Its state is one number, so that a fork of a world costs nothing.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

/// The letters of generated names. Source: `k8s.io/apimachinery/pkg/util/rand`, `alphanums` (no vowels, no look-alikes).
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

impl Random {
    /// A stream that this seed determines.
    #[must_use]
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number from zero to `most`, both included; zero when `most` is not positive.
    pub(crate) fn up_to(&mut self, most: i64) -> i64 {
        let Ok(most) = u64::try_from(most) else { return 0 };
        i64::try_from(self.bits() % most.saturating_add(1)).unwrap_or(0)
    }

    /// A suffix as the API server puts it after `generateName`.
    pub(crate) fn suffix(&mut self, letters: usize) -> String {
        word(self.bits(), letters)
    }

    /// A version 4 UUID.
    pub(crate) fn uid(&mut self) -> String {
        let (high, low) = (self.bits(), self.bits());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            low >> 52,
            low & 0xffff_ffff_ffff
        )
    }
}

pub(crate) fn mix(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn word(bits: u64, letters: usize) -> String {
    let mut rest = bits;
    let mut text = String::with_capacity(letters);
    for _ in 0..letters {
        let index = usize::try_from(rest % 27).unwrap_or(0);
        text.push(char::from(LETTERS[index]));
        rest /= 27;
    }
    text
}

/// A word of ten letters that the text determines: stands where Kubernetes puts a hash of a template.
#[must_use]
pub(crate) fn hash_word(text: &str) -> String {
    // FNV-1a, 64 bit: what the digest is made of does not matter, only that equal templates give equal words.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    word(mix(hash), 10)
}
