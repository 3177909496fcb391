//! 64 bits of a world, for the searches that remember where they have been.

use crate::model::world::World;

/// 64 bits of the bytes in use; never 0, which marks a free place.
///
/// Two lanes of multiplications of 64 by 64 bits, folded: of the 16 bytes that enter each of them none is lost.
#[inline]
pub(super) fn fingerprint(world: &World) -> u64 {
    let mut lanes = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];
    for part in world.bytes() {
        let mut chunks = part.chunks_exact(32);
        for chunk in &mut chunks {
            lanes[0] = folded(word(&chunk[..8]) ^ 0x2D35_8DCC_AA6C_78A5, word(&chunk[8..16]) ^ lanes[0]);
            lanes[1] = folded(word(&chunk[16..24]) ^ 0x8BB8_4B93_962E_ACC9, word(&chunk[24..]) ^ lanes[1]);
        }
        let rest = chunks.remainder();
        let mut last = [0; 32];
        last[..rest.len()].copy_from_slice(rest);
        lanes[0] = folded(word(&last[..8]) ^ 0x4B33_A62E_D433_D4A3, word(&last[8..16]) ^ lanes[0]);
        lanes[1] = folded(word(&last[16..24]) ^ 0x4D5A_2DA5_1DE1_AA47, word(&last[24..]) ^ lanes[1]);
    }
    mixed(lanes[0], lanes[1])
}

/// 64 bits of a fingerprint and something beside it; never 0.
#[inline]
pub(super) fn mixed(fingerprint: u64, other: u64) -> u64 {
    folded(fingerprint ^ 0xA076_1D64_78BD_642F, other ^ 0xE703_7ED1_A0B4_28DB).max(1)
}

#[inline]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}
