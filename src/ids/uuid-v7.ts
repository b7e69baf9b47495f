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
  const time = ms.toString(16).padStart(12, '0')
  const variant = ((tail[0] as number) & 0x3f) | 0x80
  let rest = variant.toString(16).padStart(2, '0')
  for (let i = 1; i < 8; i++) rest += (tail[i] as number).toString(16).padStart(2, '0')
  const middle = versionAndCounter.toString(16).padStart(4, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-${middle}-${rest.slice(0, 4)}-${rest.slice(4)}`
}
