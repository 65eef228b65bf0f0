"""Names for the emitted text: readable, unique, and never one that WGSL knows."""

from __future__ import annotations

import re

# WGSL, section 2.1 and 15.1: keywords and words reserved for later.
_KEYWORDS = """
alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let loop
override requires return struct switch true var while
"""
_RESERVED = """
NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become binding_array cast catch
class co_await co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval
constexpr constinit crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends
extern external fallthrough filter final finally friend from fxgroup get goto groupshared highp impl implements import
inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut mutable namespace new
nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset
partial pass patch pixelfragment precise precision premerge priv protected pub public readonly ref regardless register
reinterpret_cast require resource restrict self set shared sizeof smooth snorm static static_assert static_cast std
subroutine super target template this thread_local throw trait try type typedef typeid typename typeof union unless
unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield
"""
# Types and enumerants that every module may name.
_PREDECLARED = """
array atomic bool f16 f32 i32 u32 i64 u64 f64 mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4 ptr sampler
sampler_comparison texture_1d texture_2d texture_2d_array texture_3d texture_cube texture_cube_array
texture_multisampled_2d texture_depth_multisampled_2d texture_external texture_depth_2d texture_depth_2d_array
texture_depth_cube texture_depth_cube_array texture_storage_1d texture_storage_2d texture_storage_2d_array
texture_storage_3d vec vec2 vec3 vec4 vec2f vec3f vec4f vec2h vec3h vec4h vec2i vec3i vec4i vec2u vec3u vec4u mat2x2f
mat2x3f mat2x4f mat3x2f mat3x3f mat3x4f mat4x2f mat4x3f mat4x4f mat2x2h mat2x3h mat2x4h mat3x2h mat3x3h mat3x4h mat4x2h
mat4x3h mat4x4h read write read_write function private workgroup uniform storage push_constant immediate subgroups
chromium_internal
"""
_FUNCTIONS = """
abs acos acosh all any arrayLength asin asinh atan atan2 atanh atomicAdd atomicAnd atomicCompareExchangeWeak
atomicExchange atomicLoad atomicMax atomicMin atomicOr atomicStore atomicSub atomicXor bitcast ceil clamp cos cosh
countLeadingZeros countOneBits countTrailingZeros cross degrees determinant distance dot dot4I8Packed dot4U8Packed dpdx
dpdxCoarse dpdxFine dpdy dpdyCoarse dpdyFine exp exp2 extractBits faceForward firstLeadingBit firstTrailingBit floor fma
fract frexp fwidth fwidthCoarse fwidthFine insertBits inverse inverseSqrt isInf isNan ldexp length log log2 max min mix
modf normalize outerProduct pack2x16float pack2x16snorm pack2x16unorm pack4x8snorm pack4x8unorm pack4xI8 pack4xI8Clamp
pack4xU8 pack4xU8Clamp pow quadBroadcast quadSwapDiagonal quadSwapX quadSwapY quantizeToF16 radians reflect refract
reverseBits round saturate select sign sin sinh smoothstep sqrt step storageBarrier subgroupAdd subgroupAll subgroupAnd
subgroupAny subgroupBallot subgroupBroadcast subgroupBroadcastFirst subgroupElect subgroupExclusiveAdd
subgroupExclusiveMul subgroupInclusiveAdd subgroupInclusiveMul subgroupMax subgroupMin subgroupMul subgroupOr
subgroupShuffle subgroupShuffleDown subgroupShuffleUp subgroupShuffleXor subgroupXor tan tanh textureBarrier
textureDimensions textureGather textureGatherCompare textureLoad textureNumLayers textureNumLevels textureNumSamples
textureSample textureSampleBaseClampToEdge textureSampleBias textureSampleCompare textureSampleCompareLevel
textureSampleGrad textureSampleLevel textureStore transpose trunc unpack2x16float unpack2x16snorm unpack2x16unorm
unpack4x8snorm unpack4x8unorm unpack4xI8 unpack4xU8 workgroupBarrier workgroupUniformLoad
"""
# Languages that a shader is translated to: some translators rename these, older ones did not.
_FOREIGN = """
main double float half int uint long short char signed unsigned string sample vector matrix point line triangle texture
buffer cbuffer tbuffer linear centroid in out inout device kernel vertex fragment constant metal thread threadgroup
"""

RESERVED: frozenset[str] = frozenset(f"{_KEYWORDS}{_RESERVED}{_PREDECLARED}{_FUNCTIONS}{_FOREIGN}".split())
"""Every name that an emitted identifier keeps clear of."""

_LONGEST = 60
_OUTSIDE = re.compile(r"[^A-Za-z0-9_]+")


def sanitise(hint: str) -> str:
    """`hint` as an identifier of ASCII letters, digits and single underscores that means nothing to WGSL."""
    text = re.sub(r"__+", "_", _OUTSIDE.sub("_", hint))[:_LONGEST].rstrip("_")
    if not text.lstrip("_"):
        return "value"
    if text[0].isdigit():
        text = f"n{text}"
    return f"{text}_" if text in RESERVED else text


class Names:
    """Hands out names; no two are equal, so that nothing shadows anything."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def child(self) -> Names:
        """Names of an inner scope: clear of all that is taken here, free of what siblings take."""
        inner = Names()
        inner._taken = set(self._taken)
        inner._next = dict(self._next)
        return inner

    def take(self, name: str) -> str:
        """Reserves `name` as it stands (a helper function's) and returns it."""
        self._taken.add(name)
        return name

    def fresh(self, hint: str) -> str:
        """A safe name close to `hint`: itself, then `hint_1`, `hint_2` and so on."""
        stem = sanitise(hint)
        name = stem
        while name in self._taken:
            number = self._next.get(stem, 1)
            self._next[stem] = number + 1
            name = f"{stem}_{number}" if not stem.endswith("_") else f"{stem}{number}"
        self._taken.add(name)
        return name
