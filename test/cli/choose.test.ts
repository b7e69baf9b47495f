import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { decide } from '../../src/cli/choose/decide.ts'
import { type Choice, questions } from '../../src/cli/choose/decisions.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import { findBrokenSnippets } from '../../tools/checks/snippets.ts'
import { runHere } from './run-here.ts'

const all = Object.keys(questions.effect.answers).flatMap((effect) =>
  Object.keys(questions.database.answers).flatMap((database) =>
    Object.keys(questions.broker.answers).flatMap((broker) =>
      Object.keys(questions.load.answers).map((load) => ({ effect, database, broker, load }) as Choice),
    ),
  ),
)

test('the code of every choice compiles', async () => {
  const text = all.map((choice) => `\`\`\`ts\n${decide(choice).snippet ?? ''}\n\`\`\`\n`).join('\n')
  expect(await findBrokenSnippets([{ path: 'choices.md', text }])).toEqual([])
}, 120_000)

test('every page that is named exists, with its section', () => {
  for (const choice of all)
    for (const { page } of decide(choice).schemes) {
      const [path = '', anchor] = page.split('#')
      const text = readFileSync(`docs/${path}`, 'utf8')
      const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        title.toLowerCase().replaceAll(' ', '-'),
      )
      if (anchor !== undefined) expect(anchors, page).toContain(anchor)
    }
})

test('options answer without questions, and JSON has the whole decision', async () => {
  const flags = ['--effect', 'state', '--database', 'mysql', '--broker', 'kafka']
  const { code, out } = await runHere(['choose', ...flags])
  expect(code).toBe(0)
  expect(out).toContain('state machine')
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
  const answers = ['4', 'mongo', 'sqlite', '3', '1']
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
