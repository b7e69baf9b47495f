import {
  type ClassDeclaration,
  type FunctionDeclaration,
  type InterfaceDeclaration,
  type MethodDeclaration,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast'
import type { Checker } from 'typescript/unstable/sync'
import { fromRoot } from '../repo.ts'

export function isOurs(node: Node): boolean {
  return node.getSourceFile().fileName.startsWith(fromRoot('src/'))
}

/** The declaration without bodies; members of interfaces and classes are left to their table. */
export function declarationText(name: string, nodes: readonly Node[], checker: Checker): string {
  const [first] = nodes as [Node]
  switch (first.kind) {
    case SyntaxKind.FunctionDeclaration:
      return signatures(nodes as readonly FunctionDeclaration[], checker).join('\n')
    case SyntaxKind.VariableDeclaration:
      return `const ${name}: ${typeText(first, checker)}`
    case SyntaxKind.InterfaceDeclaration:
      return `${headOf(first as InterfaceDeclaration)} { … }`
    case SyntaxKind.ClassDeclaration:
      return `${headOf(first as ClassDeclaration)} {${constructorOf(first as ClassDeclaration)} … }`
    default:
      return withoutExport(first.getText())
  }
}

/** What follows the name of a member: its type, or its parameters and result. */
export function memberText(name: string, nodes: readonly Node[], checker: Checker): string {
  const [first] = nodes as [Node]
  if (first.kind === SyntaxKind.MethodDeclaration)
    return signatures(nodes as readonly MethodDeclaration[], checker)
      .map((text) => text.replace(new RegExp(`^(?:async )?${name}`), ''))
      .join(' · ')
  if (first.kind === SyntaxKind.MethodSignature)
    return nodes.map((node) => node.getText().replace(new RegExp(`^${name}\\??`), '')).join(' · ')
  const declared = /^(?:readonly )?['"\w]+\??:\s*([\s\S]*)$/.exec(node(first))?.[1]
  return declared ?? typeText(first, checker)
}

function node(of: Node): string {
  return of.getText()
}

/** Of overloads, only those that a caller sees. */
function signatures(nodes: readonly (FunctionDeclaration | MethodDeclaration)[], checker: Checker): string[] {
  const visible = nodes.length > 1 ? nodes.filter(({ body }) => body === undefined) : nodes
  return visible.map((declared) => {
    const { body, type } = declared
    const head = body === undefined ? declared.getText() : upTo(declared, body)
    return withoutExport(head).replace(/^async /, '') + (type === undefined ? `: ${resultText(declared, checker)}` : '')
  })
}

function upTo(from: Node, to: Node): string {
  return from.getSourceFile().text.slice(from.getStart(), to.getStart()).trim()
}

function headOf(declared: InterfaceDeclaration | ClassDeclaration): string {
  const text = declared.getText()
  const first = declared.members[0]
  const end =
    first === undefined ? text.lastIndexOf('{') : text.lastIndexOf('{', first.getFullStart() - declared.getStart())
  return withoutExport(text.slice(0, end)).trim().replace(/\s+/g, ' ')
}

function constructorOf(declared: ClassDeclaration): string {
  const made = declared.members.find(({ kind }) => kind === SyntaxKind.Constructor) as FunctionDeclaration | undefined
  return made?.body === undefined ? '' : ` ${upTo(made, made.body)};`
}

function resultText(declared: Node, checker: Checker): string {
  const signature = checker.getSignatureFromDeclaration(declared)
  const type = signature && checker.getReturnTypeOfSignature(signature)
  return type === undefined ? 'unknown' : checker.typeToString(type)
}

function typeText(of: Node, checker: Checker): string {
  const type = checker.getTypeAtLocation(of)
  return type === undefined ? 'unknown' : checker.typeToString(type)
}

function withoutExport(text: string): string {
  return text.replace(/^export (?:declare )?/, '')
}
