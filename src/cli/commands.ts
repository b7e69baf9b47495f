import { auditCommand } from './audit/index.ts'
import { chooseCommand } from './choose/index.ts'
import type { Command } from './command.ts'
import { completionCommand } from './completion/index.ts'
import { dashboardCommand } from './dashboard/index.ts'
import { deadLettersCommand } from './dead-letters/index.ts'
import { demoCommand } from './demo/index.ts'
import { doctorCommand } from './doctor/index.ts'
import { handlersCommand } from './handlers/index.ts'
import { intentsCommand } from './intents/index.ts'
import { maintainCommand } from './maintain/index.ts'
import { messagesCommand } from './messages/index.ts'
import { migrateCommand } from './migrate/index.ts'
import { newEpochCommand } from './new-epoch/index.ts'
import { outgoingCommand } from './outgoing/index.ts'
import { proveCommand } from './prove/index.ts'
import { reservationsCommand } from './reservations/index.ts'
import { retentionCommand } from './retention/index.ts'
import { schedulesCommand } from './schedules/index.ts'
import { statusCommand } from './status/index.ts'
import { waitingCommand } from './waiting/index.ts'

/** All commands, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  demoCommand,
  statusCommand,
  dashboardCommand,
  messagesCommand,
  deadLettersCommand,
  waitingCommand,
  outgoingCommand,
  intentsCommand,
  reservationsCommand,
  schedulesCommand,
  handlersCommand,
  auditCommand,
  doctorCommand,
  migrateCommand,
  maintainCommand,
  retentionCommand,
  newEpochCommand,
  proveCommand,
  chooseCommand,
  completionCommand(() => commands),
]
