// One step of two optimisers over flat parameters, in place. A block is 1024 neighbours of a tensor of rank 1; scalars
// such as the learning rate are parameters of the launch.
kernel sgd(Param: tensor<f32>[N], Grad: tensor<f32|bf16>[N], Velocity: tensor<f32>[N], lr: f32, momentum: f32 = 0.9) {
  let i = ctx.block.x * 1024
  let velocity = momentum * Velocity[i :+ 1024] + Grad[i :+ 1024]
  Velocity[i :+ 1024] = velocity
  Param[i :+ 1024] -= lr * velocity
}

// `step` counts from 1. The powers are scalars: they are the same for every element.
kernel adamw(Param: tensor<f32>[N], Grad: tensor<f32|bf16>[N], Mean: tensor<f32>[N], Square: tensor<f32>[N], lr: f32,
             step: i32, beta1: f32 = 0.9, beta2: f32 = 0.999, eps: f32 = 1e-8, decay: f32 = 0.01) {
  let i = ctx.block.x * 1024
  let g = Grad[i :+ 1024]
  let m = beta1 * Mean[i :+ 1024] + (1.0 - beta1) * g
  let v = beta2 * Square[i :+ 1024] + (1.0 - beta2) * square(g)
  Mean[i :+ 1024] = m
  Square[i :+ 1024] = v
  let m_hat = m / (1.0 - pow(beta1, f32(step)))
  let v_hat = v / (1.0 - pow(beta2, f32(step)))
  Param[i :+ 1024] = Param[i :+ 1024] * (1.0 - lr * decay) - lr * m_hat / (sqrt(v_hat) + eps)
}
