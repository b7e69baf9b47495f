import type { Route } from './route.ts'
import { intentRoutes } from './routes/intents.ts'
import { letterRoutes } from './routes/letters.ts'
import { messageRoutes } from './routes/messages.ts'
import { monitoringRoutes } from './routes/monitoring.ts'
import { outgoingRoutes } from './routes/outgoing.ts'
import { retryRoutes } from './routes/retries.ts'

/** Everything that can be asked and done, below the path of the dashboard. */
export const routes: readonly Route[] = [
  ...monitoringRoutes,
  ...messageRoutes,
  ...letterRoutes,
  ...retryRoutes,
  ...outgoingRoutes,
  ...intentRoutes,
]
