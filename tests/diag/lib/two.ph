fn shared(x) = x + 2.0
