import { userInfo } from 'node:os'

/** Who runs this command. A container may run under a user id that the system has no name for. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}
