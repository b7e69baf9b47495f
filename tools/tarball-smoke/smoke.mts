// Only compiled, never run: the published types as a TypeScript user sees them.
import * as core from 'justonce'
import * as dashboard from 'justonce/dashboard'
import * as memory from 'justonce/memory'
import * as postgres from 'justonce/postgres'
import * as queue from 'justonce/queue'
import * as sqlite from 'justonce/sqlite'
import * as testing from 'justonce/testing'

export const entries = [core, dashboard, memory, postgres, queue, sqlite, testing]
