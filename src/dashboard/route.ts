import type { Operations, WhoAndWhy } from '../operations/index.ts'
import type { Access, Permission } from './options.ts'
import type { Shown } from './shown.ts'

/** What a route works with. */
export interface Call {
  readonly operations: Operations
  readonly query: URLSearchParams
  readonly access: Access
  /** Makes what is shown out of what there is: without what must not be seen. */
  readonly shown: Shown
  readonly request: Request
  /** The JSON of a POST. */
  input(): Promise<Readonly<Record<string, unknown>>>
  /** Who does it and why, as the input says; the name is the one that access knows, if it knows one. */
  signed(input: Readonly<Record<string, unknown>>): WhoAndWhy
}

/** One thing that can be asked or done. A GET changes nothing; a POST does, or has too much input for an address. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Below the path of the dashboard, without a slash at its beginning. */
  readonly path: string
  readonly needs: Permission
  /** Its answer costs the store much and is the same for everybody who may see it: those who ask at the same time share one. */
  readonly shared?: boolean | undefined
  /** What is answered as JSON; or the answer itself. */
  run(call: Call): Promise<unknown>
}
