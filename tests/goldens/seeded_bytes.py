# SPDX-License-Identifier: Apache-2.0
"""The bytes that the tool makes from a seed, and the hash that it prints of outputs."""

MASK = (1 << 64) - 1


def split_mix(seed, count):
    """`count` bytes, as `sluice simulate --functional --seed N` fills an input."""
    out, state = bytearray(), seed
    while len(out) < count:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        out += (z ^ (z >> 31)).to_bytes(8, "little")
    return bytes(out[:count])


def fnv1a(data, state=0xCBF29CE484222325):
    """FNV-1a 64 as a number; `state`: the hash of the bytes before these."""
    for b in data:
        state = ((state ^ b) * 0x100000001B3) & MASK
    return state
