import { canInstallPackages, installationsFinished, installMissing } from './install.ts'
import { type Environment, type Plan, planFor, type ServerFacts, urlVariable } from './plan.ts'
import type { InPackages, NeededUrls, RunningServer, ServerDefinition } from './server.ts'

export type Acquired =
  | { readonly kind: 'running'; readonly server: RunningServer }
  | { readonly kind: 'missing'; readonly reason: string }

/** What can be done about this server here, after the packages have been installed if they can be. */
export async function settledPlan(
  definition: InPackages,
  env: Environment,
  { mustBeOwn = false } = {},
): Promise<Exclude<Plan, { kind: 'install' }>> {
  await installationsFinished()
  let facts: ServerFacts = {
    name: definition.name,
    packages: definition.packages,
    isInstalled: definition.find() !== undefined,
    canInstall: canInstallPackages(),
    givenUrl: env[urlVariable(definition.name)],
    mustBeOwn,
  }
  for (;;) {
    const plan = planFor(facts)
    if (plan.kind !== 'install') return plan
    const installFailure = await installMissing(definition)
    facts = { ...facts, isInstalled: installFailure === undefined, installFailure }
  }
}

/** A running server by whatever way works here: started, given by a URL, or not at all. */
export async function acquire(definition: ServerDefinition, env: Environment, urls: NeededUrls): Promise<Acquired> {
  const plan = await settledPlan(definition, env)
  if (plan.kind === 'skip') return { kind: 'missing', reason: plan.reason }
  if (plan.kind === 'start') return { kind: 'running', server: await definition.start(urls) }
  return { kind: 'running', server: await serverAt(definition, plan.url) }
}

async function serverAt(definition: ServerDefinition, url: string): Promise<RunningServer> {
  const { name } = definition
  try {
    const version = await definition.versionAt(url)
    return { name, version, url, stop: async () => definition.cleanUpAt?.(url) }
  } catch (error) {
    throw new Error(`${urlVariable(name)} is set, but no ${name} answers there.`, { cause: error })
  }
}
