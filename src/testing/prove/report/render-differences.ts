import type { Difference } from '../compare.ts'
import type { OrderDifferences } from '../proof.ts'
import { oneLine } from '../steps.ts'
import type { Cell, Row } from '../tables.ts'
import { indent } from './lines.ts'

const rowsShown = 8

export function renderDifferences(differences: readonly Difference[]): string[] {
  const lines = differences.slice(0, rowsShown).map(renderDifference)
  const more = differences.length - rowsShown
  return more > 0 ? [...lines, `and ${more} more`] : lines
}

export function renderOrders(orders: readonly OrderDifferences[]): string[] {
  return orders.flatMap(({ order, differences }) => [
    `Compared with ${order}:`,
    ...indent(renderDifferences(differences), 2),
  ])
}

function renderDifference({ table, expected, found, columns }: Difference): string {
  if (expected === undefined) return `${table}: too many  ${renderRow(found as Row)}`
  if (found === undefined) return `${table}: missing   ${renderRow(expected)}`
  const same = Object.fromEntries(Object.entries(expected).filter(([name]) => !columns.includes(name)))
  const changes = columns.map(
    (name) => `${name} is ${renderCell(found[name])} instead of ${renderCell(expected[name])}`,
  )
  return `${table}: ${Object.keys(same).length === 0 ? '' : `${renderRow(same)}  `}${changes.join(', ')}`
}

function renderRow(row: Row): string {
  const cells = Object.entries(row).map(([name, cell]) => `${name}: ${renderCell(cell)}`)
  return oneLine(`{ ${cells.join(', ')} }`, 110)
}

function renderCell(cell: Cell | undefined): string {
  if (cell === undefined) return 'absent'
  return typeof cell === 'string' ? `'${oneLine(cell, 50)}'` : String(cell)
}
