import { randomFillSync } from 'node:crypto'

const pool = new Uint8Array(10 * 256)
let used = pool.length
let lastMs = 0
let counter = 0
const putBackMs = 60_000

/**
 * A UUIDv7: 48 bits of time, so that ids sort by age and are adjacent in an index; a counter within the millisecond, so
 * that ids of one process are strictly increasing; the rest is random. If the clock is set back a little, ids keep the
 * later time. If it is set back far, they do not, because ids from the future are held until their time has come.
 */
export function uuidv7(now: number = Date.now()): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + 10)
  used += 10
  if (now > lastMs || now < lastMs - putBackMs) {
    lastMs = now
    counter = (((random[0] as number) & 0x07) << 8) | (random[1] as number)
  } else if (++counter > 0xfff) {
    lastMs++
    counter = 0
  }
  return format(lastMs, 0x7000 | counter, random.subarray(2))
}

const shape = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** When a UUIDv7 was made; undefined for any other id. */
export function timeOfUuidV7(id: string): Date | undefined {
  const match = shape.exec(id)
  return match === null ? undefined : new Date(Number.parseInt(`${match[1]}${match[2]}`, 16))
}

export function format(ms: number, versionAndCounter: number, tail: Uint8Array): string {
  const upper = Math.floor(ms / 65_536)
  const time = `${hex(upper / 16_777_216)}${hex(upper / 65_536)}${hex(upper / 256)}${hex(upper)}`
  const variant = ((tail[0] as number) & 0x3f) | 0x80
  const rest = `${hex(tail[2])}${hex(tail[3])}${hex(tail[4])}${hex(tail[5])}${hex(tail[6])}${hex(tail[7])}`
  return `${time}-${hex(ms / 256)}${hex(ms)}-${hex(versionAndCounter / 256)}${hex(versionAndCounter)}-${hex(variant)}${hex(tail[1])}-${rest}`
}

/** Looked up, because every published message has an id. */
const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The last byte of a number. */
function hex(value: number | undefined): string {
  return hexOfByte[Math.floor(value as number) % 256] as string
}
