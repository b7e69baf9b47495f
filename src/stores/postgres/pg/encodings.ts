import type { PgClientShape } from '../client-shapes.ts'
import { ourEncoding } from '../transactions/left-open.ts'

interface Reporting {
  readonly connection?: {
    on?(
      event: 'parameterStatus',
      heard: (message: { readonly parameterName: string; readonly parameterValue: string }) => void,
    ): unknown
  }
}

const watched = new WeakSet<object>()
const others = new WeakSet<object>()

/**
 * `pg` asks for our encoding when it connects. The server reports whenever somebody changes it for the session. Returns false if the
 * client is watched already; otherwise somebody may have changed it before.
 */
export function watchEncoding(client: PgClientShape): boolean {
  if (watched.has(client)) return false
  watched.add(client)
  const { connection } = client as Reporting
  connection?.on?.('parameterStatus', ({ parameterName, parameterValue }) => {
    if (parameterName !== 'client_encoding') return
    if (parameterValue === ourEncoding) others.delete(client)
    else others.add(client)
  })
  return true
}

export function speaksOther(client: PgClientShape): boolean {
  return others.has(client)
}
