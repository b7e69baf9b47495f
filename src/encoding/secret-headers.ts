/** Names of headers that are likely to carry a secret. */
export const secretHeaders =
  /auth|cookie|token|secret|passw|pwd|credential|session|signature|(^|[-_.])(api|access|private|shared)?[-_]?key$/i

/** Stands in the place of what is not shown. */
export const mask = '•••••'
