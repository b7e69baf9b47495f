import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { count } from './format.ts'
import { go, link } from './route.ts'
import { SessionContext } from './session.ts'
import { useAsked } from './use-asked.ts'
import type { Overview } from './wire.ts'

interface Entry {
  readonly path: string
  readonly label: string
  /** After g. */
  readonly key: string
  readonly also?: readonly string[]
  badge?(overview: Overview): number
  readonly isBad?: boolean
}

const entries: readonly Entry[] = [
  { path: '', label: 'Overview', key: 'o' },
  { path: 'messages', label: 'Messages', key: 'm', also: ['message'] },
  {
    path: 'letters',
    label: 'Dead letters',
    key: 'd',
    also: ['redrive'],
    badge: ({ parked }) => parked.dead,
    isBad: true,
  },
  { path: 'waiting', label: 'Waiting', key: 'w', badge: ({ parked }) => parked.waiting },
  { path: 'outgoing', label: 'Outgoing', key: 'u', badge: unsent },
  { path: 'intents', label: 'Intents', key: 'i', also: ['intent'], badge: ({ intents }) => intents.dead, isBad: true },
  { path: 'handlers', label: 'Handlers', key: 'h' },
  { path: 'schedules', label: 'Schedules', key: 's' },
  { path: 'audit', label: 'Audit', key: 'a' },
]

function unsent({ outgoing, delayed }: Overview): number {
  return Object.values(outgoing).reduce((sum, { ready, hidden }) => sum + ready + hidden, delayed)
}

export function Shell({ path, children }: { readonly path: string; readonly children: ComponentChildren }) {
  const { version, by, may } = useContext(SessionContext)
  const { data: overview } = useAsked<Overview>('overview', { minutes: 0 }, 10_000)
  const [showsKeys, setShowsKeys] = useState(false)
  useKeys(() => setShowsKeys((shows) => !shows))
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <aside>
        <div class="brand">
          <strong>justonce</strong>
          <span class="muted">{overview?.store.name ?? ''}</span>
        </div>
        <nav aria-label="Pages">
          {entries.map(({ path: to, label, also = [], badge, isBad }) => {
            const value = overview === undefined ? 0 : (badge?.(overview) ?? 0)
            return (
              <a key={to} href={link(to)} aria-current={path === to || also.includes(path) ? 'page' : undefined}>
                {label}
                {value > 0 && <span class={`badge ${isBad ? 'bad' : ''}`}>{count(value)}</span>}
              </a>
            )
          })}
        </nav>
        <footer>
          <Theme />
          <button type="button" class="quiet" onClick={() => setShowsKeys(true)}>
            Keys
          </button>
          <span class="muted">
            {by === undefined ? '' : `${by}, `}
            {may.includes('operate') ? '' : 'only looking, '}
            {version}
          </span>
        </footer>
      </aside>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {showsKeys && <Keys close={() => setShowsKeys(false)} />}
    </div>
  )
}

/** / goes to the search, g and a letter to a page, ? shows them. */
function useKeys(toggleHelp: () => void): void {
  useEffect(() => {
    let isGoing = false
    const pressed = (event: KeyboardEvent): void => {
      const { tagName } = event.target as HTMLElement
      const isTyping = ['INPUT', 'TEXTAREA', 'SELECT'].includes(tagName)
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
      const wasGoing = isGoing
      isGoing = event.key === 'g'
      const entry = wasGoing ? entries.find(({ key }) => key === event.key) : undefined
      if (entry !== undefined) go(entry.path)
      else if (event.key === '?') toggleHelp()
      else if (event.key === '/') search()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [toggleHelp])
}

function search(): void {
  if (document.querySelector('search input') === null) go('messages')
  focusSearch()
}

/** The page with the search may have to be drawn first. */
function focusSearch(tries = 40): void {
  const input: HTMLInputElement | null = document.querySelector('search input')
  if (input !== null) input.focus()
  else if (tries > 0) setTimeout(() => focusSearch(tries - 1), 25)
}

function show(element: HTMLDialogElement | null): void {
  if (element?.open === false) element.showModal()
}

function Keys({ close }: { close(): void }) {
  return (
    <dialog ref={show} onClose={close} aria-label="Keys">
      <h2>Keys</h2>
      <dl class="facts">
        <div>
          <dt>/</dt>
          <dd>search</dd>
        </div>
        {entries.map(({ key, label }) => (
          <div key={key}>
            <dt>g {key}</dt>
            <dd>{label}</dd>
          </div>
        ))}
        <div>
          <dt>Esc</dt>
          <dd>closes what is open</dd>
        </div>
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}

const themes = ['system', 'light', 'dark'] as const
const themeName = 'justonce-theme'
const systemDark = matchMedia('(prefers-color-scheme: dark)')

export function applyTheme(theme = localStorage.getItem(themeName) ?? 'system'): void {
  const asked = systemDark.matches ? 'dark' : 'light'
  document.documentElement.dataset.theme = theme === 'system' ? asked : theme
}

/** The system may change its mind, in the evening for example. */
export function followSystem(): void {
  systemDark.addEventListener('change', () => applyTheme())
}

function Theme() {
  const [theme, setTheme] = useState(localStorage.getItem(themeName) ?? 'system')
  const change = (chosen: string): void => {
    localStorage.setItem(themeName, chosen)
    applyTheme(chosen)
    setTheme(chosen)
  }
  return (
    <label>
      <span class="sr">Colours</span>
      <select value={theme} onChange={(event) => change(event.currentTarget.value)}>
        {themes.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  )
}
