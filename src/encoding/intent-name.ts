/** Rows of intents have handler names that begin with this. No other handler name may begin with it. */
const prefix = '!'

/** The handler name under which the intents of an effect are kept. */
export function intentHandler(effect: string): string {
  return prefix + effect
}

/** Whether rows and records of this handler name are intents: calls of an effect, not messages for a handler. */
export function isIntent(handler: string): boolean {
  return handler.startsWith(prefix)
}

export function effectOf(handler: string): string {
  return handler.slice(prefix.length)
}

/** The type of the message that says that an intent of this effect is done. */
export function doneType(effect: string): string {
  return `intent.done:${effect}`
}

/** The type of the message that says that an intent of this effect was given up or discarded. */
export function failedType(effect: string): string {
  return `intent.failed:${effect}`
}

/** Whether this is the message about the outcome of an intent, which justonce makes itself. */
export function isOutcome({ source, type }: { readonly source?: string; readonly type?: string | undefined }): boolean {
  if (source === undefined || !isIntent(source)) return false
  const effect = effectOf(source)
  return type === doneType(effect) || type === failedType(effect)
}

/** The header of an intent that lists the types of messages that the app that intended it has handlers for. */
export const announcedHeader = 'justonce-announce'

export function isAnnounced(headers: Readonly<Record<string, string>>, type: string): boolean {
  return headers[announcedHeader]?.split('\n').includes(type) ?? false
}
