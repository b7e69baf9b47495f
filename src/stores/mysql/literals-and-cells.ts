/** A value of ours as the server sends it: bytes, whatever the user's client does with types. */
export type Cell = Buffer | null

/** Longer values are written in base 64, which adds a third to their size, whereas hexadecimal doubles it. */
const longHex = 65_536

/**
 * Values appear in our statements as numbers, hexadecimal or base 64. So neither the character set of the connection nor
 * `NO_BACKSLASH_ESCAPES` nor any option of the user's client can change what is stored or compared.
 */
export function bytes(value: Uint8Array | string | undefined): string {
  if (value === undefined) return 'NULL'
  const buffer =
    typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return buffer.length > longHex ? `FROM_BASE64('${buffer.toString('base64')}')` : `x'${buffer.toString('hex')}'`
}

/** How much of a message fits into a packet, beside everything else that a row may contain. */
export function largestMessage(maxPacket: number): number {
  return Math.max(0, Math.floor(((maxPacket - besideMessage) * 3) / 4))
}

/** Room for names, keys and the error history, in hexadecimal. */
const besideMessage = 400_000

export function integer(value: number | undefined): string {
  if (value === undefined) return 'NULL'
  const whole = Math.ceil(value)
  if (!Number.isSafeInteger(whole)) throw new RangeError(`${value} is not a number that a table can hold.`)
  return String(whole)
}

/** Digits from one of our columns. */
export function digits(text: string | undefined): string {
  return text !== undefined && /^\d{1,20}$/.test(text) ? text : '0'
}

export function boolean(value: boolean): string {
  return value ? '1' : '0'
}

/** The database's clock in milliseconds since 1970, independent of time zones. */
export const nowMs = `(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)`

/** The same in microseconds. */
export const nowMicros = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`

export function textIn(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) throw new TypeError('A column that is never null is null.')
  return cell.toString('utf8')
}

export function optionalTextIn(cell: Cell | undefined): string | undefined {
  return cell === null || cell === undefined ? undefined : cell.toString('utf8')
}

export function bytesIn(cell: Cell | undefined): Uint8Array {
  if (cell === null || cell === undefined) throw new TypeError('A column that is never null is null.')
  return cell
}

export function numberIn(cell: Cell | undefined): number {
  return Number(textIn(cell))
}

export function optionalNumberIn(cell: Cell | undefined): number | undefined {
  return cell === null || cell === undefined ? undefined : Number(cell.toString('latin1'))
}

export function dateIn(cell: Cell | undefined): Date {
  return new Date(numberIn(cell))
}

export function optionalDateIn(cell: Cell | undefined): Date | undefined {
  const ms = optionalNumberIn(cell)
  return ms === undefined ? undefined : new Date(ms)
}
