import { type Child, startChildAt } from '../postgres/child.ts'

/** Upgrades from several processes at the same moment; their exit codes. */
export async function upgradeAtOnce(program: string, args: readonly string[]): Promise<readonly (number | null)[]> {
  const file = new URL(`./fixtures/${program}.ts`, import.meta.url)
  const children: readonly Child[] = [1, 2].map(() => startChildAt(file, args))
  await Promise.all(children.map((child) => child.said('ready')))
  for (const child of children) child.process.stdin?.write('go\n')
  return await Promise.all(children.map((child) => child.ended))
}
