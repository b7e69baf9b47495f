import { describe } from 'vitest'
import { lostCommitAnswers } from '../conformance/lost-commit-answers.ts'
import { requireServer } from '../servers/require.ts'
import { openMysqlContext } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

describe.skipIf(!mariadb.available)('mysql2: a commit whose answer is lost', () => {
  lostCommitAnswers(
    () => mariadb.url as string,
    (url) => openMysqlContext({ url }),
  )
})
