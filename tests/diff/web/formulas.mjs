// Reads the formulas, guards and requirements of a manifest.
//   condition:  all { "||" all }                    all:        comparison { "&&" comparison }
//   comparison: sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
//   sum:        product { ("+" | "-") product }     product:    factor { ("*" | "/" | "%") factor }
//   factor:     ("-" | "!") factor | number | name | function "(" condition { "," condition } ")" | "(" condition ")"

const TOKEN = /\s*(?:(\d+(?:\.\d*)?(?:e[-+]?\d+)?)|([A-Za-z_]\w*)|(&&|\|\||==|!=|<=|>=|[-+*\/%<>(),!]))/y;

// Exact at any size: sizes of buffers, workgroups and guards.
const div = (a, b) => (b === 0n ? a : a / b);
const mod = (a, b) => (b === 0n ? 0n : a % b);
const INTEGERS = {
  number: BigInt,
  '%': mod,
  functions: {
    div,
    mod,
    ceildiv: (a, b) => (b === 0n ? a : div(a, b) + BigInt(a % b !== 0n && a > 0n === b > 0n)),
    min: (a, b) => (a < b ? a : b),
    max: (a, b) => (a > b ? a : b),
  },
};

// Requirements speak of floats too.
const floor = (divide) => (a, b) => (b === 0 ? a : divide(a / b));
const FLOATS = {
  number: Number,
  '%': (a, b) => (b === 0 && Number.isInteger(a) ? 0 : a % b),
  functions: {
    div: floor(Math.trunc),
    mod: (a, b) => (b === 0 ? 0 : a % b),
    ceildiv: floor(Math.ceil),
    min: Math.min, max: Math.max, abs: Math.abs, floor: Math.floor, ceil: Math.ceil, trunc: Math.trunc, exp: Math.exp,
    log: Math.log, sqrt: Math.sqrt, square: (x) => x * x,
    isnan: Number.isNaN, isinf: (x) => Math.abs(x) === Infinity, f32: Math.fround, i32: Math.trunc, u32: Math.trunc,
    where: (condition, chosen, other) => (condition ? chosen : other),
  },
};
const WORDS = { true: true, false: false, inf: Infinity, nan: NaN };
const COMPARISONS = {
  '==': (a, b) => a === b, '!=': (a, b) => a !== b,
  '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b,
};

class Reader {
  constructor(text, values, kind) {
    this.text = text;
    this.values = values;
    this.kind = kind;
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

  whole() {
    const result = this.condition();
    if (this.at !== this.tokens.length) throw new Error(`the formula ${this.text} does not end at ${this.tokens[this.at]}`);
    return result;
  }

  take(...wanted) {
    return wanted.includes(this.tokens[this.at]) ? this.tokens[this.at++] : null;
  }

  expect(token) {
    if (!this.take(token)) throw new Error(`the formula ${this.text} lacks ${token}`);
  }

  condition() {
    let holds = this.all();
    while (this.take('||')) holds = this.all() || holds;
    return holds;
  }

  all() {
    let holds = this.comparison();
    while (this.take('&&')) holds = this.comparison() && holds;
    return holds;
  }

  comparison() {
    const left = this.sum();
    const operator = this.take(...Object.keys(COMPARISONS));
    return operator ? COMPARISONS[operator](left, this.sum()) : left;
  }

  sum() {
    let total = this.product();
    for (let sign; (sign = this.take('+', '-')); ) total = sign === '+' ? total + this.product() : total - this.product();
    return total;
  }

  product() {
    let total = this.factor();
    for (let sign; (sign = this.take('*', '/', '%')); ) {
      const right = this.factor();
      total = sign === '*' ? total * right : sign === '/' ? total / right : this.kind['%'](total, right);
    }
    return total;
  }

  factor() {
    if (this.take('-')) return -this.factor();
    if (this.take('!')) return !this.factor();
    if (this.take('(')) {
      const inner = this.condition();
      this.expect(')');
      return inner;
    }
    const word = this.tokens[this.at++];
    if (/^\d/.test(word ?? '')) return this.kind.number(word);
    if (this.take('(')) {
      const called = this.kind.functions[word];
      if (!called) throw new Error(`the formula ${this.text} calls ${word}, which is not known here`);
      const given = [this.condition()];
      while (this.take(',')) given.push(this.condition());
      this.expect(')');
      return called(...given);
    }
    if (Object.hasOwn(this.values, word)) return this.values[word];
    if (Object.hasOwn(WORDS, word)) return WORDS[word];
    throw new Error(`the formula ${this.text} needs ${word}`);
  }
}

// A formula or guard of integers; `values`: BigInts of dims and i32 scalars by name.
export function evaluate(text, values) {
  return new Reader(text, values, INTEGERS).whole();
}

// A requirement; `values`: Numbers and booleans of dims and all scalars.
export function isMet(text, values) {
  return new Reader(text, values, FLOATS).whole() === true;
}
