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

const others = new WeakSet<object>()

/** `pg` asks for our encoding when it connects. The server reports whenever somebody changes it for the session. */
export function watchEncoding(client: PgClientShape): void {
  const { connection } = client as Reporting
  connection?.on?.('parameterStatus', ({ parameterName, parameterValue }) => {
    if (parameterName !== 'client_encoding') return
    if (parameterValue === ourEncoding) others.delete(client)
    else others.add(client)
  })
}

export function speaksOther(client: PgClientShape): boolean {
  return others.has(client)
}
