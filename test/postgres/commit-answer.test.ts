import { beforeAll, describe } from 'vitest'
import { lostCommitAnswers } from '../conformance/lost-commit-answers.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { openJsContext } from './js-context.ts'
import { openPgContext } from './pg-context.ts'

const postgres = await requireServer('postgres')
let url: string
beforeAll(async () => {
  if (postgres.available) url = await createDatabase(postgres.url)
})
/** Its opening has been answered before. */
const answer = 'COMMIT'

describe
  .skipIf(!postgres.available)
  .each([
    { client: 'pg' },
    { client: 'pg that pipelines', pool: { pipeline: true } },
    { client: 'pg without prepared statements', prepare: false },
  ])('$client: a commit whose answer is lost', ({ client: _, ...options }) => {
  lostCommitAnswers(
    () => url,
    (through) => openPgContext({ url: through, listen: false, ...options }),
    { answer },
  )
})

describe.skipIf(!postgres.available)('postgres.js: a commit whose answer is lost', () => {
  lostCommitAnswers(
    () => url,
    (through) => openJsContext({ url: through, listen: false }),
    { answer },
  )
})
