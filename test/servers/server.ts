/** A server that tests can talk to, wherever it came from. */
export interface RunningServer {
  readonly name: string
  readonly version: string
  readonly url: string
  /** Resolves when no process and no folder of the server is left. */
  stop(): Promise<void>
}

/** Absolute paths of the programs a server needs, by their usual names. */
export type Binaries = Readonly<Record<string, string>>

/** URLs of the servers named in `needs`. */
export type NeededUrls = Readonly<Record<string, string>>

/** Programs that Debian packages bring. */
export interface InPackages {
  readonly name: string
  readonly packages: readonly string[]
  /** Files (path → text) that must exist while apt-get runs, for example to stop a package from creating a database. */
  readonly whileInstalling?: Readonly<Record<string, string>>
  /** Looks again on every call, because the packages may just have been installed. */
  find(): Binaries | undefined
}

/**
 * All that is special about one kind of server. A new one is a file with this object and a line in definitions.ts.
 * `JUSTONCE_TEST_<NAME>_URL` is made from its name, which is in lower case.
 */
export interface ServerDefinition extends InPackages {
  /** Names of servers that must run first. */
  readonly needs?: readonly string[]
  /** Called only when `find` has found the binaries. Starts on a free port with an own data folder. */
  start(urls: NeededUrls): Promise<RunningServer>
  /** Asks the server itself, so it also proves that the server answers. */
  versionAt(url: string): Promise<string>
  /** Removes what this test run left on a server that we did not start and therefore cannot throw away. */
  cleanUpAt?(url: string): Promise<void>
}

/** The binaries, or an error that names the packages: for the code that starts such a program itself. */
export function binariesOf(definition: InPackages): Binaries {
  const binaries = definition.find()
  if (binaries) return binaries
  throw new Error(`${definition.name} is not installed. Run: apt-get install ${definition.packages.join(' ')}`)
}
