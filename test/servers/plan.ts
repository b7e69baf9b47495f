/** What is known about a server on this machine before anything is started. */
export interface ServerFacts {
  readonly name: string
  readonly packages: readonly string[]
  readonly isInstalled: boolean
  readonly canInstall: boolean
  /** Why the installation went wrong, when it was tried. */
  readonly installFailure?: string
  /** The value of `JUSTONCE_TEST_<NAME>_URL`. */
  readonly givenUrl?: string
  /** True for tests that kill and restart the server: a URL is of no use to them. */
  readonly mustBeOwn?: boolean
}

export type Plan =
  | { readonly kind: 'start' }
  | { readonly kind: 'install' }
  | { readonly kind: 'use-url'; readonly url: string }
  | { readonly kind: 'skip'; readonly reason: string }

export type Environment = Readonly<Record<string, string | undefined>>

export function urlVariable(name: string): string {
  return `JUSTONCE_TEST_${name.toUpperCase()}_URL`
}

/** Own binaries come before a given URL, so that a run never depends on a server somebody started by hand. */
export function planFor(facts: ServerFacts): Plan {
  if (facts.isInstalled) return { kind: 'start' }
  if (facts.canInstall && facts.installFailure === undefined) return { kind: 'install' }
  if (facts.givenUrl && !facts.mustBeOwn) return { kind: 'use-url', url: facts.givenUrl }
  return { kind: 'skip', reason: missing(facts) }
}

function missing(facts: ServerFacts): string {
  const command = `apt-get install ${facts.packages.join(' ')}`
  const failure = facts.installFailure === undefined ? '' : ` (tried: ${facts.installFailure})`
  const orUrl = facts.mustBeOwn
    ? `. ${urlVariable(facts.name)} does not help here: these tests kill and restart their own server.`
    : `, or set ${urlVariable(facts.name)} to a running server.`
  return `${facts.name} is not installed${failure}. Run: ${command}${orUrl}`
}

/** Hands the reason of a skip back, or turns it into a failure where everything has to run, as in CI. */
export function reasonToSkip(reason: string, env: Environment): string {
  if (env.JUSTONCE_REQUIRE_ALL === '1') throw new Error(`JUSTONCE_REQUIRE_ALL=1 allows no skip, but ${reason}`)
  return reason
}
