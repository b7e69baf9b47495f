import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { InPackages } from './server.ts'

const run = promisify(execFile)

const aptGet = '/usr/bin/apt-get'

/** Debian's switch against starting services: our servers come up on their own ports, not as services. */
const noServices = { '/usr/sbin/policy-rc.d': '#!/bin/sh\nexit 101' }

/** Arguments: path and text of each file to hold in place, `--`, the packages. Files that exist already are left alone. */
const installScript = `
created=
trap 'rm -f $created' EXIT
trap 'exit 130' INT TERM HUP
while [ "$1" != -- ]; do
  if [ ! -e "$1" ]; then
    mkdir -p "$(dirname "$1")"
    created="$created $1"
    printf '%s\\n' "$2" >"$1"
    chmod 755 "$1"
  fi
  shift 2
done
shift
# Stale package lists may still do, and the install reports what is really wrong.
${aptGet} -q update || :
${aptGet} -q install --yes --no-install-recommends "$@"
`

export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && existsSync(aptGet)
}

/** Another test process may be installing: binaries it has unpacked are of no use before their user exists. */
export async function installationsFinished(): Promise<void> {
  if (canInstallPackages()) await run('flock', ['--shared', aptGet, 'true'])
}

/** Installs the packages of a server; the lock lets parallel test processes take turns. */
export async function installPackages(definition: InPackages): Promise<void> {
  const files = Object.entries({ ...noServices, ...definition.whileInstalling }).flat()
  const script = ['sh', '-c', installScript, 'install', ...files, '--', ...definition.packages]
  console.log(`Installing ${definition.packages.join(' ')} with apt-get (only the first time)`)
  await run('flock', [aptGet, ...script], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 64 * 1024 * 1024,
  })
}

/** Tries to make `find` succeed. Returns what went wrong, or undefined when the binaries are there. */
export async function installMissing(definition: InPackages): Promise<string | undefined> {
  try {
    await installPackages(definition)
  } catch (error) {
    return lastLine(error)
  }
  return definition.find() ? undefined : 'the packages did not bring the expected binaries'
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string }
  const lines = (stderr || message).trim().split('\n')
  return lines.at(-1) ?? message
}
