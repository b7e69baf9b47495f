import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { decide } from '../../src/cli/choose/decide.ts'
import { type Choice, questions } from '../../src/cli/choose/decisions.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { findBrokenSnippets } from '../../tools/checks/snippets.ts'
import { makeScratchFolder } from '../../tools/repo.ts'
import { run } from '../../tools/run.ts'
import { runHere } from './run-here.ts'

const all = Object.keys(questions.effect.answers).flatMap((effect) =>
  Object.keys(questions.database.answers).flatMap((database) =>
    Object.keys(questions.broker.answers).flatMap((broker) =>
      Object.keys(questions.load.answers).map((load) => ({ effect, database, broker, load }) as Choice),
    ),
  ),
)

test('the code of every choice compiles', async () => {
  const snippets = new Set(all.map((choice) => decide(choice).snippet ?? ''))
  const text = [...snippets].map((snippet) => `\`\`\`ts\n${snippet}\n\`\`\`\n`).join('\n')
  expect(await findBrokenSnippets([{ path: 'choices.md', text }])).toEqual([])
}, 120_000)

test('every page that is named exists, with its section, and every example', () => {
  for (const choice of all)
    for (const { page, example } of decide(choice).schemes) {
      if (example !== undefined) expect(existsSync(`${example}/main.ts`), example).toBe(true)
      const [path = '', anchor] = page.split('#')
      const text = readFileSync(path, 'utf8')
      const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        title.toLowerCase().replaceAll(' ', '-'),
      )
      if (anchor !== undefined) expect(anchors, page).toContain(anchor)
    }
})

test('what to know is said in sentences', () => {
  for (const choice of all) for (const text of decide(choice).beware) expect(text).toMatch(/^[A-Z].{20,}[^ ]$/)
})

test.each([
  ['several-databases', 'app.reservation(', 'examples/15-reservation'],
  ['services', 'await publish(', 'examples/11-two-services'],
  ['stock', 'await reserve(', 'examples/05-stock'],
  ['ledger', 'await applyEntry(', 'examples/03-transfer-ledger'],
] as const)('%s gets its code and its example', (effect, code, example) => {
  const { schemes, snippet } = decide({ effect, database: 'postgres', broker: 'rabbitmq', load: 'usual' })
  expect(schemes.map((scheme) => scheme.example)).toContain(example)
  expect(snippet).toContain(code)
})

test('a database that is far away and positions of Kafka change the code, where they are of use', () => {
  const codeFor = (choice: Partial<Choice>) =>
    decide({ effect: 'rows', database: 'postgres', broker: 'kafka-positions', load: 'far', ...choice }).snippet
  expect(codeFor({})).toContain('interleave: true')
  expect(codeFor({})).toContain("dedup: 'position'")
  expect(codeFor({ database: 'redis' })).not.toMatch(/interleave|dedup/)
  expect(codeFor({ effect: 'sampled' })).not.toContain('interleave')
})

const tables = `
  create table bookings (order_id text);
  create table invoices (order_id text unique);
  create table orders (id text primary key, state text, changed_at integer);
  insert into orders values ('A17', 'new', 0);
  create table stock (item text primary key, free integer, held integer);
  insert into stock values ('pen', 5, 0);
  create table entries (transfer text, account text, amount integer, unique (transfer, account));
  create table accounts (account text primary key, balance integer);
  insert into accounts values ('ada', 500)`

test.each(['rows', 'insert', 'state', 'latest', 'stock', 'ledger', 'services', 'several-databases'] as const)(
  'the code for %s runs, and a copy is a duplicate',
  async (effect) => {
    const folder = makeScratchFolder('choose')
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const shop = sqliteStore({ path: join(folder, 'shop.db') })
    await shop.transaction(async (tx) => tx.exec(tables))
    await shop.close()
    const { snippet } = decide({ effect, database: 'sqlite', broker: 'none', load: 'usual' })
    const end = snippet?.includes('app.start()') ? 'await app.stop()' : ''
    writeFileSync(join(folder, 'main.ts'), `${snippet}${end}`)
    const ran = () => run(process.execPath, ['--conditions=justonce-source', 'main.ts'], { cwd: folder })
    expect([await ran(), await ran()].map(({ stdout, output }) => stdout.trim() || output)).toEqual([
      'processed',
      'duplicate',
    ])
  },
  60_000,
)

test('options answer without questions, and JSON has the whole decision', async () => {
  const flags = ['--effect', 'state', '--database', 'mysql', '--broker', 'kafka']
  const { code, out } = await runHere(['choose', ...flags])
  expect(code).toBe(0)
  expect(out).toContain('state machine')
  expect(out).toContain('Example: examples/04-order-states')
  expect(out).toContain("from 'justonce/mysql'")
  expect(out).toContain('kafkaTransport(')
  const json = JSON.parse((await runHere(['choose', ...flags, '--json'])).out)
  expect(json).toMatchObject({
    choice: { effect: 'state', load: 'usual' },
    snippet: expect.stringContaining('transition('),
  })
})

test('what is missing or wrong is said with what may be given', async () => {
  expect(await runHere(['choose'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--effect with one of: harmless'),
  })
  const wrong = await runHere(['choose', '--effect', 'rows', '--database', 'oracle'])
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('postgres, mysql, sqlite, redis; not oracle') })
})

test('a person is asked, by number or by name, until the answer is one', async () => {
  const answers = ['4', 'mongo', 'sqlite', '4', '1']
  const out: string[] = []
  const code = await runCommand(['choose'], {
    out: { write: (text) => out.push(text) },
    err: { write: () => {} },
    ask: async () => answers.shift() as string,
  })
  expect([code, answers]).toEqual([0, []])
  expect(out.join('')).toContain('insertOnce(')
  expect(out.join('')).toContain('queueTransport(')
})

test('what needs nothing gets no code', () => {
  const { snippet, beware } = decide({ effect: 'harmless', database: 'sqlite', broker: 'none', load: 'usual' })
  expect([snippet, beware]).toEqual([undefined, [expect.stringContaining('call the code as it is')]])
})
