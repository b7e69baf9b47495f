import type { Headers } from '../contracts/index.ts'
import { mask, secretHeaders } from '../encoding/secret-headers.ts'

/** For people: terminals are shared, recorded and pasted into tickets. `--json` has the values. */
export function headerLines(headers: Headers): readonly string[] {
  return Object.entries(headers).map(
    ([name, value]) => `header ${name}: ${secretHeaders.test(name) ? `${mask} (--json shows it)` : value}`,
  )
}
