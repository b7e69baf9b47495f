/** Kinds of ids that contain the time at which they were made. */
export type TimedIds = 'uuidv7' | 'ulid' | 'ksuid'

/** When an id of the given kind was made; `undefined` if it is not of that kind. */
export function bornOfId(kind: TimedIds, id: string): Date | undefined {
  const time = readers[kind](id)
  return time === undefined ? undefined : new Date(time)
}

const readers: Record<TimedIds, (id: string) => number | undefined> = { uuidv7: ofUuidV7, ulid: ofUlid, ksuid: ofKsuid }

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

function ofUuidV7(id: string): number | undefined {
  return uuidV7.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** 48 bits of milliseconds in ten characters, of which the first carries only three bits. */
function ofUlid(id: string): number | undefined {
  if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i.test(id)) return undefined
  let time = 0
  for (const character of id.slice(0, 10).toUpperCase()) time = time * 32 + crockford.indexOf(character)
  return time
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The start of KSUID time, in seconds since 1970. */
const ksuidEpoch = 1_400_000_000
const lastKsuid = (1n << 160n) - 1n

function ofKsuid(id: string): number | undefined {
  if (!/^[0-9A-Za-z]{27}$/.test(id)) return undefined
  let value = 0n
  for (const character of id) value = value * 62n + BigInt(base62.indexOf(character))
  return value > lastKsuid ? undefined : (Number(value >> 128n) + ksuidEpoch) * 1_000
}
