/** Numbers that JavaScript may not represent exactly: many digits, or an exponent. Most texts have none. */
const doubtful = /(?:^|[[:,\s])-?\d(?:[\d.]{15}|[\d.]*[eE])/

/** Newer engines pass the source text of a number to a reviver, and can write it back. */
const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): boolean
}

export function mayHoldInexactNumbers(text: string): boolean {
  return doubtful.test(text)
}

/**
 * Parses a text so that every number stays as exact as it was sent: 9007199254740993 is not 9007199254740992, and 1e400
 * is not null. The result is only for `canonicalJson`, which writes equal numbers alike: 1.0 as 1.
 */
export function parseExactly(text: string): unknown {
  return parseNumbers(text, (_, decimal) => decimal)
}

/** Parses a text that will be written again: numbers that JavaScript cannot represent exactly are written as they were sent. */
export function parseToRewrite(text: string): unknown {
  return mayHoldInexactNumbers(text) ? parseNumbers(text, (source) => source) : JSON.parse(text)
}

/** Whether `parseToRewrite` has kept the text of a number. */
export function isInexactNumber(value: unknown): boolean {
  return isRawJSON(value)
}

function parseNumbers(text: string, written: (source: string, decimal: string) => string): unknown {
  return parse(text, (_, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value
    const sent = decimalOf(source)
    return Number.isFinite(value) && decimalOf(String(value)) === sent ? value : rawJSON(written(source, sent))
  })
}

/** The same text for the same decimal number, however it is written. */
function decimalOf(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = withoutZerosAtEnd(digits)
  if (significant === '') return '0'
  // Nobody means such a number, and calculating with it would take long.
  if (exponent.length > 20) return text
  const scale = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)
  return `${sign}${significant}e${scale}`
}

/** Not a regular expression, which would scan every run of zeros in a long number again and again. */
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}
