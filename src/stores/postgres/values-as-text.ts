/** Values travel as text in both directions, so type parsers and serializers of the user's client do not matter. */
export type Cell = string | null

export function textArray(values: readonly (string | undefined)[]): string {
  return `{${values.map((value) => (value === undefined ? 'NULL' : quoted(value))).join(',')}}`
}

export function bytesArray(values: readonly (Uint8Array | undefined)[]): string {
  return `{${values.map((value) => (value === undefined ? 'NULL' : `"\\\\x${hexOf(value)}"`)).join(',')}}`
}

export function numberArray(values: readonly (number | string | undefined)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function hexOf(bytes: Uint8Array): string {
  // The few bytes of a fingerprint live in the heap, and a Buffer would first have to copy them out of it.
  if (bytes.length <= 16) return bytes.reduce((text, byte) => text + hexOfByte[byte], '')
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

export function booleanArray(values: readonly boolean[]): string {
  return `{${values.join(',')}}`
}

export function textIn(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) throw new TypeError('A column that is never null is null.')
  return cell
}

/** Selected as `encode(…, 'hex')`, because the text format of a bare `bytea` depends on a setting. */
export function bytesIn(cell: Cell | undefined): Uint8Array {
  return Buffer.from(textIn(cell), 'hex')
}

/** Reads milliseconds since 1970, which is how our statements select times. */
export function dateIn(cell: Cell | undefined): Date {
  return new Date(Number(textIn(cell)))
}

const special = /["\\]/g

function quoted(text: string): string {
  return `"${text.replace(special, '\\$&')}"`
}
