export { catalog, type ErrorCode } from './catalog.ts'
export { checkChoice, checkFunction, checkNumber, checkOptions } from './check-options.ts'
export { isJustonceError, JustonceError, type JustonceErrorOptions } from './justonce-error.ts'
export { isPermanentError, PermanentError } from './permanent-error.ts'
