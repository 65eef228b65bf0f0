fn shared(x) = x + 1.0
