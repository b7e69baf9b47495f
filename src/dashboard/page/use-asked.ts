import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { get, type Query, queryText, type Refused } from './api.ts'

export interface Asked<T> {
  /** The last answer, also while the next one is awaited or could not be had. */
  readonly data: T | undefined
  readonly error: Refused | undefined
  reload(): void
}

/** Asks now and every so often, unless nobody is looking. An answer to an earlier question is never shown for a later one. */
export function useAsked<T>(path: string | undefined, query: Query = {}, everyMs = 5_000): Asked<T> {
  const question = path === undefined ? undefined : `${path}${queryText(query)}`
  const [state, setState] = useState<{ question?: string | undefined; data?: T; error?: Refused }>({})
  const [asks, setAsks] = useState(0)
  const reload = useCallback(() => setAsks((count) => count + 1), [])
  const last = useRef<string>(undefined)

  useEffect(() => {
    if (question === undefined) return
    const stopping = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    last.current = question
    const ask = async (): Promise<void> => {
      try {
        if (!document.hidden) {
          const data = await get<T>(question, {}, stopping.signal)
          setState({ question, data })
        }
      } catch (error) {
        if (stopping.signal.aborted) return
        setState((known) => ({ ...(known.question === question ? known : {}), question, error: error as Refused }))
      }
      if (!stopping.signal.aborted && everyMs > 0) timer = setTimeout(ask, everyMs)
    }
    const look = (): void => {
      if (!document.hidden) reload()
    }
    document.addEventListener('visibilitychange', look)
    void ask()
    return () => {
      stopping.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [question, everyMs, asks, reload])

  const isCurrent = state.question === question
  return { data: isCurrent ? state.data : undefined, error: isCurrent ? state.error : undefined, reload }
}
