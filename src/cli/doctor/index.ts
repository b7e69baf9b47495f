import { operatorCommand } from '../operator-command.ts'
import { onOneLine } from '../output/table.ts'
import { dutyFindings } from './duty-findings.ts'
import {
  backlogFindings,
  databaseFindings,
  type Finding,
  handlerFindings,
  poolFindings,
  processFindings,
  reportedFindings,
  schemaFindings,
  troubleFindings,
} from './findings.ts'

export const doctorCommand = operatorCommand(
  { name: 'doctor', summary: 'looks for what may lose or delay messages, and says how to fix it' },
  {
    name: '',
    summary: 'looks for what may lose or delay messages, and says how to fix it',
    about: `Checks the tables, the settings of the database and its replication that decide whether a commit survives, isolation, indexes and
rights, and what waits. Running processes tell of their clocks, pools, handler names that clash, how long records are kept, and
whether their brokers may lose messages: only they are connected to them. The exit code is 1 if there is a problem.`,
    anySchema: true,
    async run({ store, operations, show }) {
      const findings = await schemaFindings(store)
      // Nothing else can be asked of tables that do not fit.
      if (findings.every(({ level }) => level === 'ok')) {
        const processes = await operations.processes()
        findings.push(...(await databaseFindings(store)), ...processFindings(processes))
        const overview = await operations.overview({ minutes: 0 })
        findings.push(...dutyFindings(processes, overview))
        findings.push(...troubleFindings(processes))
        findings.push(...poolFindings(processes), ...reportedFindings(processes, findings))
        findings.push(...handlerFindings(await operations.handlers.list(), processes), ...backlogFindings(overview))
      }
      const isWell = findings.every(({ level }) => level !== 'problem')
      show({ ok: isWell, findings }, () => findings.map(lineOf).join(''))
      return isWell ? 0 : 1
    },
  },
)

const marks = { ok: '✓', notice: '!', problem: '✗' } as const

function lineOf({ level, check, found, fix }: Finding): string {
  return `${marks[level]} ${onOneLine(`${check}: ${found}`)}\n${fix === undefined ? '' : `    ${onOneLine(fix)}\n`}`
}
