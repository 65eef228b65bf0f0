// One step of two optimisers of the library over flat parameters, in place. A block is 1024 neighbours of a tensor of
// rank 1; scalars such as the learning rate are parameters of the launch.
kernel sgd(Param: tensor<f32>[N], Grad: tensor<f32|bf16>[N], Velocity: tensor<f32>[N], lr: f32, momentum: f32 = 0.9) {
  let i = ctx.block.x * 1024
  sgd_step(Param[i :+ 1024], Velocity[i :+ 1024], Grad[i :+ 1024], lr, momentum)
}

// `step` counts from 1.
kernel adamw(Param: tensor<f32>[N], Grad: tensor<f32|bf16>[N], Mean: tensor<f32>[N], Square: tensor<f32>[N], lr: f32,
             step: i32, beta1: f32 = 0.9, beta2: f32 = 0.999, eps: f32 = 1e-8, decay: f32 = 0.01) {
  let i = ctx.block.x * 1024
  let g = Grad[i :+ 1024]
  adamw_step(Param[i :+ 1024], Mean[i :+ 1024], Square[i :+ 1024], g, lr, step, beta1, beta2, eps, decay)
}
