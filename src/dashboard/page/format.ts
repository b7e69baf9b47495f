const dash = '–'

/** How long ago, or how long until then, in one short word. */
export function span(ms: number | undefined): string {
  if (ms === undefined) return dash
  const seconds = Math.round(Math.abs(ms) / 1_000)
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}

export function ago(time: string | undefined, now = Date.now()): string {
  if (time === undefined) return dash
  const ms = now - Date.parse(time)
  return ms >= -999 ? `${span(Math.max(0, ms))} ago` : `in ${span(ms)}`
}

export function clock(time: string | undefined): string {
  if (time === undefined) return dash
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}

export function millis(ms: number | undefined): string {
  if (ms === undefined) return dash
  return ms < 10 ? `${ms.toFixed(1)} ms` : ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return dash
  if (perSecond === 0) return '0'
  return perSecond < 10 ? perSecond.toFixed(perSecond < 1 ? 2 : 1) : count(Math.round(perSecond))
}

export function percent(share: number | undefined): string {
  return share === undefined ? dash : `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`
}

export function count(value: number | undefined): string {
  return value === undefined ? dash : value.toLocaleString('en')
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** Characters that turn the order of what follows them. */
const turning = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** A value as somebody would edit it: what is read is what is there, and it is the same value. */
export function jsonText(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value, undefined, 2) ?? '')
  return text.replaceAll(turning, (found) => `\\u${found.charCodeAt(0).toString(16)}`)
}

export function size(bytes: number): string {
  if (bytes < 1_048_576) return `${Math.ceil(bytes / 1_024)} KiB`
  return bytes < 1_073_741_824 ? `${Math.round(bytes / 1_048_576)} MiB` : `${(bytes / 1_073_741_824).toFixed(1)} GiB`
}

/** Characters that turn the order of what follows them are shown as such: what is read must be what is there. */
export function inOrder(text: string): string {
  return text.replaceAll(turning, '�')
}
