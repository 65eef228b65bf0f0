"""Row E0435: kernels derived from kernels."""

from tilec.diag.row import Row

NOT_DERIVED = Row(
    "E0435",
    message="no gradient kernel of `{kernel}` with respect to `{wrt}`: {reason}",
    label="because of this",
    hint=None,
    explanation="""
`k.grad(wrt=..., loss=...)` and `tilec compile --grad` make of a kernel that computes a loss one that computes the
gradient too. The gradient of every element must come from one read of it by one block: where several reads or several
blocks use an element, as with class weights that all rows share, their gradients would have to be added up, and a
kernel does not add across blocks. Read the tensor once, outside of `while` and of loops whose number of rounds is not
constant; do not store to it; store the loss once. In place, all of the tensor must be read, so that nothing of the old
values is left.""",
    wrong="""
kernel k(A: tensor<f32>[M], Loss: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  A[i :+ 256] *= 2.0
  Loss[i :+ 256] = square(A[i :+ 256])
}""",
    right="""
kernel k(A: tensor<f32>[M], Loss: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256] * 2.0
  Loss[i :+ 256] = square(a)
}""",
)
