// Optimiser steps over flat tensors, in place.

/// AdamW on f32 weights that leaves a bf16 copy for the next forward pass.
kernel adamw(P: tensor<f32>[N], Copy: tensor<bf16>[N], G: tensor<f32|f16|bf16>[N], M: tensor<f32>[N],
             V: tensor<f32>[N], Clip: tensor<f32>[1], lr: f32, step: i32, b1: f32 = 0.9, b2: f32 = 0.95, eps: f32 = 1e-8,
             decay: f32 = 0.1) {
  let i = ctx.block.x * 1024
  let g = G[i :+ 1024] * Clip[0]
  let m = b1 * M[i :+ 1024] + (1.0 - b1) * g
  let v = b2 * V[i :+ 1024] + (1.0 - b2) * square(g)
  M[i :+ 1024] = m
  V[i :+ 1024] = v
  let size = sqrt(v / (1.0 - pow(b2, f32(step)))) + eps
  let p = P[i :+ 1024] * (1.0 - lr * decay) - lr * (m / (1.0 - pow(b1, f32(step)))) / size
  P[i :+ 1024] = p
  Copy[i :+ 1024] = p
}

/// Lion: a step of one size whose sign a running mean chooses.
kernel lion<T: f32|f16|bf16>(P: tensor<T>[N], G: tensor<T>[N], M: tensor<T>[N], lr: f32, b1: f32 = 0.9, b2: f32 = 0.99,
                             decay: f32 = 0.0) {
  let i = ctx.block.x * 1000
  let g = G[i :+ 1000]
  let m = M[i :+ 1000]
  P[i :+ 1000] -= lr * (sign(b1 * m + (1.0 - b1) * g) + decay * P[i :+ 1000])
  M[i :+ 1000] = b2 * m + (1.0 - b2) * g
}

/// Gradient descent with momentum, Nesterov's if asked for.
kernel sgd(P: tensor<f32>[N], G: tensor<f32|bf16>[N], Velocity: tensor<f32>[N], lr: f32, mu: f32 = 0.9,
           decay: f32 = 0.0, nesterov: bool = false) {
  let i = ctx.block.x * 256
  let g = G[i :+ 256] + decay * P[i :+ 256]
  var v = mu * Velocity[i :+ 256] + g
  Velocity[i :+ 256] = v
  if nesterov {
    v = g + mu * v
  }
  P[i :+ 256] -= lr * v
}

/// Scales a gradient down to a norm of at most `most`, the whole tensor in one block.
kernel clip_norm(G: tensor<f32|f16|bf16>[N], Norm: tensor<f32>[1], most: f32 = 1.0) {
  let g = G[:]
  let norm = sqrt(sum(square(g)))
  Norm[0] = norm
  G[:] = g * min(most / (norm + 1e-6), 1.0)
}
