/** MySQL's answer to a row whose key exists. It rolls back that statement and nothing else. */
export function isDuplicateKey(error: unknown): boolean {
  return (error as { readonly errno?: unknown } | undefined)?.errno === 1062
}
