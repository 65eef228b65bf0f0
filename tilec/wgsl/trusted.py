"""Built-ins that may stand for helper functions on a device where a probe found them right.

The standard leaves open what they do on some values; the helpers do not. `Options.trusted` names what may be relied on.
"""

from __future__ import annotations

TRUSTED: dict[str, dict[str, str]] = {
    # Infinities, NaN and results beyond the range; everywhere else the helper calls the built-in too.
    "exp": {
        "exp_f32": """
fn exp_f32(x: f32) -> f32 {
  return exp(x);
}""",
    },
    # Nearest with ties to even, infinity beyond the range, subnormals, NaN.
    "f16": {
        "f32_to_f16": """
fn f32_to_f16(x: f32) -> u32 {
  return pack2x16float(vec2<f32>(x, 0.0));
}""",
        "f16_to_f32": """
// The f16 in the low 16 bits.
fn f16_to_f32(word: u32) -> f32 {
  return unpack2x16float(word).x;
}""",
        "f16_high": """
// The f16 in the high 16 bits.
fn f16_high(word: u32) -> f32 {
  return unpack2x16float(word).y;
}""",
        "pack_f16": """
fn pack_f16(low: f32, high: f32) -> u32 {
  return pack2x16float(vec2<f32>(low, high));
}""",
    },
}
"""By what is trusted: the helper functions that it makes simpler, and their text then."""


def trusted_helpers(trusted: tuple[str, ...]) -> dict[str, str]:
    """The texts that stand for those of `HELPERS`."""
    return {name: text.strip("\n") for one in trusted for name, text in TRUSTED[one].items()}
