const strict = new TextDecoder('utf-8', { fatal: true })

/** The parsed JSON; text if it is not JSON, the bytes if it is not text either. */
export function readable(body: Uint8Array): unknown {
  let text: string
  try {
    text = strict.decode(body)
  } catch {
    return body
  }
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
