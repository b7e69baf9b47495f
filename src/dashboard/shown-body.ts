/** A body as it may be shown. */
export type ShownBody =
  | { readonly is: 'shown'; readonly value: unknown }
  /** `redact` has changed it: it can be read, but not edited. */
  | { readonly is: 'redacted'; readonly value: unknown }
  /** Bytes that are no text. */
  | { readonly is: 'bytes'; readonly base64: string }
  /** Those who ask may not see bodies. */
  | { readonly is: 'hidden' }
