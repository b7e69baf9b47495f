import { type StatementHead, statementHeads } from './statement-heads.ts'

/** These begin or end a transaction, or commit it unasked, whatever comes after the word. */
const always = new Set([
  ...['BEGIN', 'COMMIT', 'XA', 'ALTER', 'TRUNCATE', 'RENAME', 'GRANT', 'REVOKE', 'LOCK', 'UNLOCK', 'FLUSH', 'RESET'],
  ...['ANALYZE', 'OPTIMIZE', 'REPAIR', 'CHECK', 'CACHE', 'INSTALL', 'UNINSTALL', 'START', 'STOP', 'CHANGE', 'IMPORT'],
  ...['BACKUP', 'SHUTDOWN', 'RESTART'],
])

const neverSet = new Set(['AUTOCOMMIT', 'COMPLETION_TYPE', 'PASSWORD'])

/** Any of them in a text is worth a closer look. */
const suspicious =
  /\b(?:begin|commit|rollback|xa|alter|truncate|rename|grant|revoke|lock|unlock|flush|reset|analyze|optimize|repair|check|cache|install|uninstall|start|stop|change|import|backup|shutdown|restart|create|drop|load|set|call|execute)\b/i

/**
 * The first words in a text of one or more statements that would begin, end or silently commit a transaction, or
 * undefined. Savepoints and temporary tables are allowed.
 */
export function findTransactionControl(sql: string): string | undefined {
  if (!suspicious.test(sql)) return undefined
  for (const head of statementHeads(sql)) {
    const found = controlIn(head)
    if (found !== undefined) return found
  }
  return undefined
}

function controlIn(head: StatementHead): string | undefined {
  const [first = '', second = '', third = ''] = head
  if (always.has(first)) return `${first} ${second}`.trim()
  switch (first) {
    case 'ROLLBACK':
      return second === 'TO' || (second === 'WORK' && third === 'TO') ? undefined : first
    case 'CREATE':
    case 'DROP': {
      const isTemporary = second === 'TEMPORARY' || (second === 'OR' && head[3] === 'TEMPORARY')
      return isTemporary ? undefined : `${first} ${second}`.trim()
    }
    case 'LOAD':
      return second === 'INDEX' ? 'LOAD INDEX' : undefined
    case 'SET':
      return controlInSet(head)
    default:
      return undefined
  }
}

function controlInSet(head: StatementHead): string | undefined {
  const found = head.find((each) => neverSet.has(each))
  if (found !== undefined) return `SET ${found}`
  // MariaDB: SET STATEMENT variable = value FOR the statement.
  const inner = head[1] === 'STATEMENT' ? head.indexOf('FOR') : -1
  return inner < 0 ? undefined : controlIn(head.slice(inner + 1))
}
