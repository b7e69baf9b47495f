import { bindStoreCases } from './bind-store-cases.ts'
import { openSimulated } from './simulated-context.ts'

// The simulator's store must agree with the real ones, or what it proves is about a database that does not exist.
bindStoreCases('simulated', { open: openSimulated })
