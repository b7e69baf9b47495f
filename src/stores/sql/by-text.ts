/** Applications send few different texts. One that puts values into its texts must not fill the memory. */
const mostTexts = 500
const longestText = 2_000

/** The same function of a statement's text, which reads each text only once. What it returns must never be changed. */
export function byText<Verdict>(read: (sql: string) => Verdict): (sql: string) => Verdict {
  const known = new Map<string, Verdict>()
  return (sql) => {
    const verdict = known.get(sql)
    if (verdict !== undefined || known.has(sql)) return verdict as Verdict
    const fresh = read(sql)
    if (sql.length > longestText) return fresh
    if (known.size >= mostTexts) known.clear()
    known.set(sql, fresh)
    return fresh
  }
}
