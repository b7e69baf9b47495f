import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Permission } from '../options.ts'
import type { Session } from './wire.ts'

export const SessionContext = createContext<Session>({ may: [], version: '' })

export function useMay(permission: Permission): boolean {
  return useContext(SessionContext).may.includes(permission)
}

const nameOfName = 'justonce-by'

/** The name that somebody has given themselves, where the server does not know it. */
export function ownName(): string {
  return localStorage.getItem(nameOfName) ?? ''
}

export function keepOwnName(name: string): void {
  localStorage.setItem(nameOfName, name)
}
