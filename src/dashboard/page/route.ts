import { useEffect, useState } from 'preact/hooks'
import { type Query, queryText } from './api.ts'

/** Where the page is: everything is behind the #, so that a server need not know it. */
export interface Place {
  readonly path: string
  readonly query: URLSearchParams
}

export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  return { path, query: new URLSearchParams(query) }
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash))
  useEffect(() => {
    const changed = (): void => {
      setPlace(placeOf(location.hash))
      scrollTo(0, 0)
    }
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  return place
}

export function link(path: string, query: Query = {}): string {
  return `#/${path}${queryText(query)}`
}

export function go(path: string, query: Query = {}): void {
  location.hash = link(path, query)
}

/** The fields of a query that have a value. */
export function given(query: URLSearchParams, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name) as string]] : [])))
}
