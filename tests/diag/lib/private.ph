fn shown(x) = _hidden(x)
fn _hidden(x) = x + 2.0
