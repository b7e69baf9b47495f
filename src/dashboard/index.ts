export { type Dashboard, dashboard } from './dashboard.ts'
export type { NodeHandler } from './node-handler.ts'
export type { Access, DashboardOptions, Permission, Redactable } from './options.ts'
export { type DashboardServer, type ServeOptions, serveDashboard } from './serve.ts'
