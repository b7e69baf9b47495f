/** Numbers which may not be what they become in JavaScript: many digits, or an exponent. Most texts have none. */
const doubtful = /(?:^|[[:,\s])-?\d(?:[\d.]{15}|[\d.]*[eE])/

/** What newer engines give to a reviver, and can write: the text of a number as it was sent. */
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

export function mayHoldInexactNumbers(text: string): boolean {
  return doubtful.test(text)
}

/**
 * The content of a text with every number as exact as it was sent: 9007199254740993 is not 9007199254740992, and 1e400 is
 * not null. Only to be written again, by `canonicalJson`: equal numbers are written alike, 1.0 as 1.
 */
export function parseExactly(text: string): unknown {
  return parse(text, (_, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value
    const sent = decimalOf(source)
    return Number.isFinite(value) && decimalOf(String(value)) === sent ? value : rawJSON(sent)
  })
}

/** One text for each decimal number, however it is written. */
function decimalOf(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = withoutZerosAtEnd(digits)
  if (significant === '') return '0'
  // Nobody means such a number, and to reckon with it would take long.
  if (exponent.length > 20) return text
  const scale = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)
  return `${sign}${significant}e${scale}`
}

/** Not by a pattern: that would look at every run of zeros in a long number again and again. */
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}
