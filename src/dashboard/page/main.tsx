import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { get, keepToken, type Refused, takeTokenFromAddress } from './api.ts'
import { Trouble } from './parts/small.tsx'
import { usePlace } from './route.ts'
import { SessionContext } from './session.ts'
import { applyTheme, followSystem, Shell } from './shell.tsx'
import { AuditPage } from './views/audit.tsx'
import { HandlersPage } from './views/handlers.tsx'
import { IntentPage } from './views/intent.tsx'
import { IntentsPage } from './views/intents.tsx'
import { LettersPage } from './views/letters.tsx'
import { MessagesPage } from './views/messages.tsx'
import { OutgoingPage } from './views/outgoing.tsx'
import { OverviewPage } from './views/overview.tsx'
import { QueuePage } from './views/queued.tsx'
import { RedrivePage } from './views/redrives.tsx'
import { SchedulesPage } from './views/schedules.tsx'
import { StoryPage } from './views/story.tsx'
import { WaitingPage } from './views/waiting.tsx'
import type { Session } from './wire.ts'

const pages: Readonly<Record<string, (props: { readonly query: URLSearchParams }) => preact.JSX.Element>> = {
  '': OverviewPage,
  messages: MessagesPage,
  message: StoryPage,
  letters: LettersPage,
  redrive: RedrivePage,
  waiting: WaitingPage,
  outgoing: OutgoingPage,
  queue: QueuePage,
  intents: IntentsPage,
  intent: IntentPage,
  handlers: HandlersPage,
  schedules: SchedulesPage,
  audit: AuditPage,
}

/** What tabs and histories call them: never by what a message brings. */
const titles: Readonly<Record<string, string>> = {
  '': 'Overview',
  messages: 'Messages',
  message: 'Message',
  letters: 'Dead letters',
  redrive: 'Redrive',
  waiting: 'Waiting',
  outgoing: 'Outgoing',
  queue: 'Queue',
  intents: 'Intents',
  intent: 'Intent',
  handlers: 'Handlers',
  schedules: 'Schedules',
  audit: 'Audit',
}

function Dashboard() {
  const { path, query } = usePlace()
  const [session, setSession] = useState<Session>()
  const [error, setError] = useState<Refused>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    get<Session>('session').then(setSession, setError)
  }, [tries])
  if (session === undefined) return <Entrance error={error} enter={() => setTries(tries + 1)} />
  useEffect(() => {
    document.title = `${titles[path] ?? 'Dashboard'} · justonce`
  }, [path])
  const Page = pages[path]
  return (
    <SessionContext.Provider value={session}>
      <Shell path={path}>
        {Page === undefined ? <p class="empty">There is no such page.</p> : <Page query={query} />}
      </Shell>
    </SessionContext.Provider>
  )
}

function Entrance({ error, enter }: { readonly error: Refused | undefined; enter(): void }) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    keepToken(String(new FormData(event.currentTarget as HTMLFormElement).get('token') ?? ''))
    enter()
  }
  if (error === undefined) return null
  return (
    <main class="entrance">
      <h1>justonce</h1>
      {error.code === 'TOKEN_WRONG' ? (
        <form onSubmit={submit}>
          <label>
            <span>Token</span>
            <input type="password" name="token" required autocomplete="current-password" />
          </label>
          <button type="submit" class="primary">
            Enter
          </button>
          <p class="muted">It is the one that the dashboard was started with, and is kept for this tab only.</p>
        </form>
      ) : (
        <>
          <Trouble error={error} />
          <button type="button" onClick={enter}>
            Try again
          </button>
        </>
      )}
    </main>
  )
}

takeTokenFromAddress()
applyTheme()
followSystem()
render(<Dashboard />, document.getElementById('page') as HTMLElement)
