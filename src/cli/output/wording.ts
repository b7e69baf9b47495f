/** How long ago, or how long until then, in one short word. */
export function spanOf(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined
  const seconds = Math.round(Math.abs(ms) / 1_000)
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`
}

/** In UTC, and saying so: logs of other programs are in other time zones. */
export function timeOf(date: Date | undefined): string | undefined {
  return date && `${date.toISOString().replace('T', ' ').slice(0, 19)}Z`
}

/** The same in a few characters, for where there is no room. */
export function agoOf(date: Date | undefined, now = Date.now()): string | undefined {
  if (date === undefined) return undefined
  const ms = now - date.getTime()
  return ms >= 0 ? `${spanOf(ms)} ago` : `in ${spanOf(ms)}`
}

export function millis(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined
  return ms < 10 ? `${ms.toFixed(1)} ms` : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

export function rate(perSecond: number): string {
  return perSecond === 0 ? '0' : perSecond < 10 ? perSecond.toFixed(2) : String(Math.round(perSecond))
}

export function percent(share: number | undefined): string | undefined {
  return share === undefined ? undefined : `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

/** JSON in which bytes are base64. What JSON leaves as it is and terminals act on, or turns the order of a text, is escaped. */
export function jsonOf(value: unknown): string {
  const plain = (_: string, each: unknown): unknown =>
    each instanceof Uint8Array ? { base64: Buffer.from(each).toString('base64') } : each
  const text = JSON.stringify(value, plain, 2)
  return `${text.replaceAll(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, escaped)}\n`
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Bytes as people say them. */
export function sizeOf(bytes: number): string {
  if (bytes < 1_048_576) return `${Math.ceil(bytes / 1_024)} KiB`
  return bytes < 1_073_741_824 ? `${Math.round(bytes / 1_048_576)} MiB` : `${(bytes / 1_073_741_824).toFixed(1)} GiB`
}
