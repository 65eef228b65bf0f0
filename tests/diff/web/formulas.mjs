// Reads the formulas, guards and requirements of a manifest: integers as BigInts, exact at any size.
//   condition:  comparison { "&&" comparison }      comparison: sum ("==" | "!=" | "<" | "<=" | ">" | ">=") sum
//   sum:        product { ("+" | "-") product }     product:    factor { ("*" | "%") factor }
//   factor:     "-" factor | integer | name | function "(" sum "," sum ")" | "(" sum ")"

const TOKEN = /\s*(?:(\d+)|([A-Za-z_]\w*)|(&&|==|!=|<=|>=|[-+*%<>(),]))/y;

const div = (a, b) => (b === 0n ? a : a / b);
const mod = (a, b) => (b === 0n ? 0n : a % b);
const FUNCTIONS = {
  div,
  mod,
  ceildiv: (a, b) => (b === 0n ? a : a / b + BigInt(a % b !== 0n && a % b > 0n === b > 0n)),
  min: (a, b) => (a < b ? a : b),
  max: (a, b) => (a > b ? a : b),
};
const COMPARISONS = {
  '==': (a, b) => a === b, '!=': (a, b) => a !== b,
  '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b,
};

class Reader {
  constructor(text, values) {
    this.text = text;
    this.values = values;
    this.tokens = [];
    TOKEN.lastIndex = 0;
    while (text.slice(TOKEN.lastIndex).trim()) {
      const at = TOKEN.lastIndex;
      const found = TOKEN.exec(text);
      if (!found) throw new Error(`the formula ${text} cannot be read at ${text.slice(at)}`);
      this.tokens.push(found[0].trim());
    }
    this.at = 0;
  }

  take(...wanted) {
    return wanted.includes(this.tokens[this.at]) ? this.tokens[this.at++] : null;
  }

  expect(token) {
    if (!this.take(token)) throw new Error(`the formula ${this.text} lacks ${token}`);
  }

  end(result) {
    if (this.at !== this.tokens.length) throw new Error(`the formula ${this.text} does not end at ${this.tokens[this.at]}`);
    return result;
  }

  condition() {
    let holds = this.comparison();
    while (this.take('&&')) holds = this.comparison() && holds;
    return holds;
  }

  comparison() {
    const left = this.sum();
    const operator = this.take(...Object.keys(COMPARISONS));
    if (!operator) throw new Error(`the condition ${this.text} compares nothing`);
    return COMPARISONS[operator](left, this.sum());
  }

  sum() {
    let total = this.product();
    for (let sign; (sign = this.take('+', '-')); ) total = sign === '+' ? total + this.product() : total - this.product();
    return total;
  }

  product() {
    let total = this.factor();
    for (let sign; (sign = this.take('*', '%')); ) total = sign === '*' ? total * this.factor() : mod(total, this.factor());
    return total;
  }

  factor() {
    if (this.take('-')) return -this.factor();
    if (this.take('(')) {
      const inner = this.sum();
      this.expect(')');
      return inner;
    }
    const word = this.tokens[this.at++];
    if (/^\d/.test(word ?? '')) return BigInt(word);
    if (this.take('(')) {
      if (!(word in FUNCTIONS)) throw new Error(`the formula ${this.text} calls ${word}`);
      const left = this.sum();
      this.expect(',');
      const right = this.sum();
      this.expect(')');
      return FUNCTIONS[word](left, right);
    }
    if (!Object.hasOwn(this.values, word)) throw new Error(`the formula ${this.text} needs ${word}`);
    return this.values[word];
  }
}

// `values`: BigInts of dims and i32 scalars by name.
export function evaluate(text, values) {
  const reader = new Reader(text, values);
  return reader.end(reader.sum());
}

export function holds(text, values) {
  const reader = new Reader(text, values);
  return reader.end(reader.condition());
}
