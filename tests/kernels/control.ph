// Scalar control flow and loops that carry tiles.

/// How often a row's largest size has to be halved until it is at most 1.
kernel halvings(X: tensor<f32>[M, C], Count: tensor<i32>[M]) {
  let r = ctx.block.x
  var size = amax(abs(X[r, :]))
  var count = 0
  while size > 1.0 {
    size = size * 0.5
    count += 1
  }
  Count[r] = count
}

/// The number of chunks of 64 that it takes to reach `limit`, and the sum until then.
kernel until_limit(X: tensor<f32>[M, C], Chunks: tensor<i32>[M], Sum: tensor<f32>[M], limit: f32) {
  let r = ctx.block.x
  var total = 0.0
  var chunks = 0
  for c in range(0, C, 64) {
    total += sum(X[r, c :+ 64])
    chunks += 1
    if total >= limit {
      break
    }
  }
  Chunks[r] = chunks
  Sum[r] = total
}

/// The sum of the chunks of 32 whose first element is not negative.
kernel some_chunks(X: tensor<f32>[M, C], Sum: tensor<f32>[M]) {
  let r = ctx.block.x
  var total = 0.0
  for c in range(0, C, 32) {
    if X[r, c] < 0.0 {
      continue
    }
    total += sum(X[r, c :+ 32])
  }
  Sum[r] = total
}

/// The nearest of K centres to each row, and its squared distance.
kernel nearest(X: tensor<f32>[M, D], Centre: tensor<f32>[K, D], Which: tensor<i32>[M], Distance: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  var least: tile<f32>[8, 1] = inf
  var which: tile<i32>[8, 1] = 0
  for k in range(0, K) {
    let d = rowsum(square(x - Centre[k, :]))
    which = where(d < least, k, which)
    least = min(d, least)
  }
  Which[r :+ 8, new] = which
  Distance[r :+ 8, new] = least
}

/// Leaves the tensor as it is if told so.
kernel maybe_negate(X: tensor<f32|f16>[N], skip: bool = false) {
  let i = ctx.block.x * 128
  if skip {
    return
  }
  X[i :+ 128] = -X[i :+ 128]
}
